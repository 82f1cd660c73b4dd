import { html, type Slot } from '../../http/html.ts'
import { hasPendingCancel, isKnown, type User } from '../../membership/rules/state.ts'
import { acts } from '../acts/all.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import type { Cause } from './cause.ts'

/**
 * The actions that are possible on this user now, each leading to a page that first shows its effect: the one thing to do and
 * the two most wanted in the user's state, then the others behind *More*, and apart what cannot be undone.
 */
export function actsView({ user, terms, serviceId }: UserDetails, cause: Cause | undefined): Slot {
  if (!isKnown(user)) return ''
  const path = `/users/${serviceId}`
  const fitting = acts.filter(act => act.fits(user, terms))
  const possible = [
    ...fitting
      .filter(({ name }) => !isFinal(name))
      .map(({ name, title }) => ({ name, title, to: `${path}/act/${name}` })),
    { name: 'link', title: LINK[cause?.wantsLink ? 'again' : 'first'], to: `${path}/link` },
    { name: 'export', title: 'Export all we hold', to: `${path}/export` },
  ]
  const final = fitting
    .filter(({ name }) => isFinal(name))
    .map(({ name, title }) => ({ title, to: `${path}/act/${name}` }))
  const wanted = wantedOf(user)
  const main = wanted.flatMap(name => possible.find(one => one.name === name) ?? []).slice(0, 2)
  const isFirst = user.status === 'prefilled' || user.status === 'registering'
  const button = ({ title, to }: { title: string; to: string }, look = '') =>
    html`<li><a class="button${look}" href="${to}">${title}</a></li>`
  return html`<ul class="row links">${main.map((one, place) =>
    button(one, isFirst && place === 0 ? ' primary' : ''),
  )}</ul>
<details class="more"><summary>More</summary>
<ul class="row links">${possible.filter(one => !main.includes(one)).map(one => button(one))}</ul>
<p class="hint">Cannot be undone:</p><ul class="row links">${final.map(one => button(one, ' danger'))}</ul></details>`
}

/** What cannot be undone. */
function isFinal(act: string): boolean {
  return act === 'void' || act === 'erase'
}

const LINK = { first: 'Make a link', again: 'Make a new link' } as const

/** The names of the acts that callers in this state ask for most, the first two of which are shown. */
function wantedOf(user: User): readonly string[] {
  if (user.status === 'prefilled' || user.status === 'registering') return ['link']
  if (hasPendingCancel(user) || user.status === 'cancelled') return ['reinstate', 'link']
  const isWaiting = user.enrolments.some(({ state }) => state === 'actionrequired')
  return isWaiting ? ['consent', 'link', 'cancel'] : ['link', 'cancel']
}
