import { html, type Slot } from '../../http/html.ts'
import { table } from '../views/parts.ts'
import type { Objection, Standing } from './why-not.ts'

/** What is closed to the user and why, and below that what is open, with which offer. */
export function whyNot(all: readonly Standing[], isPersonShown: boolean): Slot {
  const shut = all.filter(one => one.against.length > 0)
  const open = all.filter(one => isOpen(one) && one.within === undefined)
  const offers = new Map<string, string[]>()
  for (const { displayname, within = [] } of all)
    for (const offer of within) offers.set(offer, [...(offers.get(offer) ?? []), displayname])
  return html`${table({
    caption: 'Benefits and offers that are not open',
    columns: ['What', 'Why not'],
    rows: shut.map(one => [
      html`${one.displayname}<br><span class="hint">${one.isHeld && 'held '}${one.kind}</span>`,
      html`<ul class="rules">${one.against.map(objection => html`<li>${words(objection, isPersonShown)}</li>`)}</ul>`,
    ]),
    empty: 'Nothing is closed to this user.',
  })}
${open.length > 0 && html`<p class="hint">Open to this user: ${open.map(({ displayname }) => displayname).join(', ')}.</p>`}
${[...offers].map(([offer, benefits]) => html`<p class="hint">With ${offer}: ${benefits.join(', ')}.</p>`)}`
}

/** Whether the user could take it now, or once an offer is taken. */
export function isOpen({ isHeld, against }: Standing): boolean {
  return !isHeld && against.length === 0
}

function words({ code, why, looked }: Objection, isPersonShown: boolean): Slot {
  return html`${why}${isPersonShown && looked !== undefined && html` – looked at ${looked}`} <code>${code}</code>`
}
