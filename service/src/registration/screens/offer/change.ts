import { textIn } from '../../../catalogue/model.ts'
import { type Html, html, type Slot } from '../../../http/html.ts'
import { isBoundaryLocked, nextBoundary } from '../../../membership/rules/boundary.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import {
  type Enrolment,
  hasPendingCancel,
  isHeld,
  isPending,
  type User,
} from '../../../membership/rules/state.ts'
import { displayNameOf, offerOf } from '../../../membership/rules/terms.ts'
import { undoOfferChangeOf } from '../../../offers/change.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { comingBySwap, isMoveCalledOff, planName, undoUntil, visitAfter } from '../../steps/ahead.ts'
import { leavingOn, lineOf, liveEnrolment, liveLines, localDay } from '../../steps/cards.ts'
import { changeAndConfirm } from '../../steps/change-own.ts'
import type { Step } from '../../steps/step.ts'
import { parseOneOf } from '../../steps/step.ts'
import { isFaulty } from '../../views/faults.ts'
import { draftField, form, oneOf, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText, namesText, totalLines } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { notice } from '../../views/layout.ts'
import { leavingNotice, shortList } from '../../views/lists.ts'
import type { BenefitLine } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'
import { addressOf, heldLines, offerChoices, openOffers, proposed } from './choices.ts'

/** The offers to move to, with the one in force and the pending change. */
export const offer: Step = {
  show: (visit, { posted, errors }) => {
    const { user, terms, now } = visit
    const current = offerOf(terms, user)
    if (!visit.isMember || !current) return { to: 'overview' }
    const page = pageOf(visit)
    const say = sayIn(page)
    const boundary = nextBoundary(user, now, terms)
    const leaving = leavingOn(visit)
    const isLocked = leaving === undefined && isBoundaryLocked(user, boundary, { now, terms })
    const others = leaving === undefined ? offerChoices(visit) : []
    const open = others.filter(({ reasons }) => reasons.length === 0)
    const closed = others.filter(({ reasons }) => reasons.length > 0)
    const answers = { page, errors }
    return question('OFFER_CHANGE', answers, {
      title: say`Change your plan`,
      asks: open.length > 0,
      back: 'overview',
      body: html`${open.length > 0 && html`<p class="lead">${say`Choose the plan you want. We show what changes before anything happens.`}</p>`}
${leaving !== undefined && leavingNotice(page, leaving, 'offer')}
${isLocked && notice(say`Changes for next month are closed`, say`You can plan another change from ${dayText(page, localDay(visit, boundary))}.`)}
${pendingMove(page, visit, open.length > 0)}
<section class="panel"><h2>${say`Your plan now`}</h2><p class="name">${textIn(current.displayname, visit.locale)}</p></section>
${
  open.length > 0 &&
  form(answers, 'offer', [
    oneOf(answers, 'offername', {
      legend: html`<legend class="unseen">${say`Change your plan`}</legend>`,
      chosen: posted ? (posted.get('offername') ?? '') : (visit.session.offername ?? undefined),
      choices: open.map(choice => ({
        value: choice.offer,
        label: html`<strong>${choice.displayname}</strong><span class="hint">${say`From ${dayText(page, choice.effectiveon)}`}</span>`,
        card: difference(page, visit, choice.offer),
      })),
    }),
    primary(say`Continue`),
  ])
}
${closed.map(
  ({ displayname, reasons }) =>
    html`<section class="panel quietly"><h2>${displayname}</h2>
<div class="status plain">${icon('no')}<div><p>${say`Not available to you:`}</p>${reasons.map(
      reason => html`<p class="hint">${reason}</p>`,
    )}</div></div></section>`,
)}`,
    })
  },
  post: (visit, form) => {
    if (!visit.isMember) return { to: 'overview' }
    if (hasPendingCancel(visit.user)) return { to: 'offer' }
    const open = openOffers(visit).map(one => one.offer)
    const chosen = parseOneOf(form, { input: 'offername', code: 'offer_missing' }, open)
    return isFaulty(chosen) ? chosen : { to: addressOf(chosen) }
  },
}

/** Undoes a pending change. */
export const offerUndo: Step = {
  show: () => ({ to: 'offer' }),
  post: (visit, form) =>
    changeAndConfirm(
      visit,
      'undone',
      {
        why: 'offer change undone',
        form,
        decide: ({ user, now, terms }) =>
          user.pendingOffer ? undoOfferChangeOf(user, now, terms()) : 'unchanged',
      },
      'conflict',
    ),
}

/**
 * The pending change of plan: what it gives and takes, and what comes back, with the total, if it is undone, as the rules would undo
 * it now; without the latter once they refuse. Empty when none is pending.
 */
function pendingMove(page: Page, visit: Visit, isOpen: boolean): Slot {
  const { user, now, terms } = visit
  const { pendingOffer: pending, swap } = user
  if (!pending) return null
  const say = sayIn(page)
  const undone = undoOfferChangeOf(user, now, terms)
  const after = visitAfter(visit, isRefusal(undone) ? { user: { ...user, pendingOffer: undefined } } : undone)
  const swapped = new Set(swap?.pairs.map(({ remove }) => remove))
  const comesBack = (enrolment: Enrolment) => isHeld(enrolment) && endsLater(enrolment, after.user)
  const lines = (list: readonly BenefitLine[]) => list.length > 0 && shortList(page, list)
  const gained = lines(liveLines(visit, one => isPending(one) && one.pendingBy !== 'swap'))
  const lost = lines(liveLines(visit, one => comesBack(one) && !swapped.has(one.benefit)).map(takenLine))
  const kept = lines(
    liveLines(after, one => user.enrolments.some(was => was.id === one.id && comesBack(was))).map(
      ({ since: _, ...line }) => line,
    ),
  )
  const [name, on] = [planName(visit, pending.name), dayText(page, localDay(visit, pending.at))]
  const { undountil } = undoUntil(visit, pending.at)
  return html`<section class="panel"><h2>${
    isMoveCalledOff(visit)
      ? say`As things are now, you will not move to ${name} on ${on}`
      : say`You move to ${name} on ${on}`
  }</h2>
${isOpen && html`<p>${say`A new choice replaces this change.`}</p>`}
${gained && html`<h3>${say`You gain`}</h3>${gained}`}
${lost && html`<h3>${say`You lose`}</h3>${lost}`}
${
  !isRefusal(undone) &&
  html`<h3>${say`If you undo it`}</h3>
${
  undountil !== undefined &&
  html`<p class="withsign">${icon('clock')}${say`You can undo this until ${deadlineText(page, undountil)}.`}</p>`
}
${kept && html`<h4>${say`You keep`}</h4>${kept}`}
${swap !== undefined && undone.user.swap === undefined && swapDropped(page)}
<h4>${say`Your total`}</h4>${totalLines(page, liveLines(after)).map(line => html`<p class="hint">${line}</p>`)}
<form method="post" action="${page.root}/offer/undo">${draftField(page)}<p><button
class="secondary">${say`Undo this change`}</button></p></form>`
}</section>`
}

/** Says that a change of plan, or the undoing of one, takes the planned swap away. */
export function swapDropped(page: Page): Html {
  const say = sayIn(page)
  return html`<p class="withsign">${icon('alert')}${say`The swap that you had planned will not happen.`}</p>`
}

/** Whether a benefit ends later than planned now, or not at all, for the user as they would be. */
function endsLater({ benefit, endsAt }: Enrolment, ahead: User): boolean {
  const then = liveEnrolment(ahead, benefit)
  return endsAt !== undefined && then !== undefined && (then.endsAt ?? Number.POSITIVE_INFINITY) > endsAt
}

/** A benefit that is taken, with its last day; with no days if it would only begin after that one. */
function takenLine({ cost: _, startson, endson, ...line }: BenefitLine): BenefitLine {
  if (startson === undefined) return { ...line, endson }
  return endson !== undefined && startson > endson ? line : { ...line, startson, endson }
}

/** What is gained, lost and kept with a plan, and the total then; empty where the rules refuse the change. */
function difference(page: Page, visit: Visit, offername: string): Slot {
  const found = proposed(visit, new URLSearchParams({ offername }))
  if (!found) return null
  const { changed } = found
  const after = visitAfter(visit, changed)
  const coming = found.gained.map(benefit => lineOf(visit, benefit, visit.now))
  const total = totalLines(page, [...coming, ...heldLines(after, changed.kept), ...comingBySwap(after)])
  const say = sayIn(page)
  const row = (label: string, names: readonly string[]) =>
    names.length > 0 &&
    html`<div><dt>${label}</dt><dd>${namesText(
      page,
      names.map(name => displayNameOf(visit.terms, changed.user, name, visit.locale)),
    )}</dd></div>`
  return html`<dl class="known">${row(say`You gain`, changed.gained)}${row(say`You lose`, changed.lost)}${row(
    say`You keep`,
    changed.kept,
  )}<div><dt>${say`Your total`}</dt><dd>${total.map(line => html`<p>${line}</p>`)}</dd></div></dl>`
}
