import { type Html, html, type Slot } from '../../http/html.ts'
import { draftField } from './fields.ts'
import { dayText } from './format.ts'
import { icon } from './icons.ts'
import { notice } from './layout.ts'
import type { Day, LostCover, PlannedChanges } from './parts.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** Tells a member whose benefits are about to end what is no longer possible, with the button that keeps them. */
export function leavingNotice(page: Page, lastday: Day, what: 'swap' | 'offer' | 'all'): Html {
  const words = textsOf(page).standing.leaving
  return html`${notice(words.title(dayText(page, lastday)), words[what])}
<form method="post" action="${page.root}/cancel/undo">${draftField(page)}<p><button class="primary">${words.keep}</button></p></form>`
}

/** Tells a member which changes are planned, since the benefits' dates alone do not say why; empty when none. */
export function plannedNotices(page: Page, { plan, swap }: PlannedChanges = {}): Slot {
  const texts = textsOf(page)
  const words = texts.standing.planned
  const line = (text: string, to: string) =>
    html`<p class="notice info">${icon('clock')}<span>${text} <a href="${page.root}/${to}">${words.see}<span class="unseen">: ${text}</span></a></span></p>`
  return [
    plan?.iscalledoff && line(`${texts.offer.calledoff(plan.displayname, dayText(page, plan.on))}.`, 'offer'),
    plan && !plan.iscalledoff && line(words.plan(plan.displayname, dayText(page, plan.on)), 'offer'),
    swap && line(words[swap.iscalledoff ? 'noswap' : 'swap'](dayText(page, swap.on)), 'swap'),
  ]
}

/**
 * Tells a member whose details no longer fit their plan what stays, until when, and whom to ask. For a member whose
 * benefits are about to end (`isLeaving`) it leaves out what stays.
 */
export function ineligibleNotice(
  page: Page,
  about:
    | { readonly offername: string; readonly reasons: readonly string[]; readonly isLeaving: boolean }
    | undefined,
): Slot {
  const texts = textsOf(page)
  if (!about) return null
  const { offername, reasons, isLeaving } = about
  const words = texts.standing.ineligible
  return html`<section class="notice info">${icon('info')}<div><h2>${words.title(offername)}</h2>
${reasons.length > 0 && html`<ul class="plain">${reasons.map(reason => html`<li>${reason}</li>`)}</ul>`}
${!isLeaving && html`<p>${words.keeps}</p>`}<p>${words.back(offername)}</p>
<p>${words.correct(texts.already.details)} ${words.ask(page.partner.displayname)}</p></div></section>`
}

/** Tells a member that their details are saved, and which benefits they lose; empty when they lose none. */
export function lostNotice(page: Page, lost: readonly LostCover[]): Slot {
  const words = textsOf(page).standing.lost
  const [first, ...others] = lost.map(cover =>
    cover.how === 'neverstarts'
      ? words.neverstarts(cover.displayname)
      : words[cover.how](cover.displayname, dayText(page, cover.on)),
  )
  if (first === undefined) return null
  return html`<div class="notice info" role="status">${icon('info')}<div><p>${words.saved} ${first}</p>${others.map(
    sentence => html`<p>${sentence}</p>`,
  )}</div></div>`
}

/** The benefits of that notice as form fields, so that the view says the same in another language. */
export function lostFields(lost: readonly LostCover[]): Slot {
  return lost.map(({ name }) => html`<input type="hidden" name="lost" value="${name}">`)
}
