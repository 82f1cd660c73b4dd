import { cancelAccount } from '../../accounts/lifecycle.ts'
import { boundaryAfter } from '../../calendar/calendar.ts'
import { type Html, html } from '../../http/html.ts'
import { hasPendingCancel, isHeld, isInForce, isLive } from '../../membership/rules/state.ts'
import { displayNameOf } from '../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { mayComeBack } from '../steps/ahead.ts'
import { lastDayOf, liveLines } from '../steps/cards.ts'
import type { OwnChange } from '../steps/change-own.ts'
import { changeAndConfirm } from '../steps/outcomes.ts'
import { parseOneOf } from '../steps/posted.ts'
import type { Step } from '../steps/step.ts'
import { takingBack } from '../steps/taking-back.ts'
import { type Asking, isFaulty } from '../views/faults.ts'
import { form, oneOf, question } from '../views/fields.ts'
import { dayText, namesText } from '../views/format.ts'
import type { Content } from '../views/layout.ts'
import { benefitList, leavingNotice } from '../views/lists.ts'
import type { BenefitLine, IsoDate } from '../views/parts.ts'
import { sayIn } from '../views/say.ts'
import type { ViewOf } from '../views/surroundings.ts'

/** What a cancel ends, and when. */
export type CancelView = ViewOf<'CANCEL'> &
  Asking & {
    readonly benefits: readonly BenefitLine[]
    /** The names of benefits that have not started, beside others that have: they never will. */
    readonly notbegun?: readonly string[]
    /** The last day of cover at the period's end. */
    readonly lastday: IsoDate
    /** The number of days in which a cancel can be undone; without it, the benefits cannot come back. */
    readonly reinstatedays?: number | undefined
    readonly effective?: (typeof ends)[number] | undefined
    readonly pending?: { readonly on: IsoDate } | undefined
    /** True when a swap or a plan change is planned, which a cancel drops for good. */
    readonly haspending?: boolean
    /** False while the membership is still to start: such a cancel has no end of a period to wait for. */
    readonly hasbegun: boolean
  }

/** What a cancel ends, and when; a pending one can be undone. */
export const cancel: Step<CancelView> = {
  show: (visit, typed) => {
    if (!visit.isMember) return { to: 'overview' }
    const { user, now, partner } = visit
    const hasBegun = user.offer?.inForce ?? false
    return {
      view: 'CANCEL',
      page: pageOf(visit),
      benefits: liveLines(visit, hasBegun ? isInForce : isLive),
      notbegun: hasBegun ? namesNotBegun(visit) : [],
      lastday: lastDayOf(visit, boundaryAfter(now, partner.timezone)),
      reinstatedays: mayComeBack(visit) ? DAYS_TO_REINSTATE : undefined,
      effective: ends.find(end => end === typed.posted?.get('effective')),
      hasbegun: hasBegun,
      haspending: user.swap !== undefined || user.pendingOffer !== undefined,
      pending: user.cancel && { on: lastDayOf(visit, user.cancel.at) },
    }
  },
  post: async (visit, form) => {
    const effective = parseOneOf(form, { input: 'effective', code: 'when_missing' }, ends)
    if (isFaulty(effective)) return effective
    const change: OwnChange = {
      why: 'cancel',
      form,
      of: ({ status }) => status === 'active' || status === 'cancelled',
      decide: ({ user, now, terms }) => {
        const change = cancelAccount(user, { effective, reason: 'voluntary' }, now, terms())
        return change.user === user ? 'unchanged' : change
      },
    }
    return changeAndConfirm(visit, 'cancelled', change, 'gone')
  },
}

/** Keeps the benefits by undoing a cancel that is still pending. */
export const cancelUndo: Step<never> = takingBack('cancel', hasPendingCancel)

const DAYS_TO_REINSTATE = 30
const ends = ['endofperiod', 'immediate'] as const

/**
 * The names of benefits that a member has chosen and that have not started: a cancel withdraws them at once, whatever
 * its date.
 */
function namesNotBegun({ user, terms, locale }: Visit): readonly string[] {
  return user.enrolments
    .filter(one => isHeld(one) && !isInForce(one))
    .map(({ benefit }) => displayNameOf(terms, user, benefit, locale))
}

/** What a cancel ends, and when. A pending cancel can be undone here, or be made to take effect at once. */
export function drawCancel(view: CancelView): Content {
  const { page, benefits, notbegun = [], pending, reinstatedays, hasbegun } = view
  const say = sayIn(page)
  const title = pending ? say`End your benefits now` : say`Cancel your benefits`
  const lead = pending
    ? say`If you do not want to wait until ${dayText(page, pending.on)}, you can end all of these right now:`
    : hasbegun
      ? say`If you cancel, all of these end:`
      : say`Your benefits have not started yet. If you cancel, they will not start.`
  return question(view, {
    title,
    back: 'overview',
    body: html`${pending && leavingNotice(page, pending.on, 'all')}
${(benefits.length > 0 || !hasbegun) && html`<p class="lead">${lead}</p>`}
${benefits.length > 0 && benefitList(page, benefits)}
${notbegun.length > 0 && html`<p>${say`These have not started and will not: ${namesText(page, notbegun)}.`}</p>`}
${form(view, 'cancel', [
  hasbegun && !pending ? timeChoice(view) : html`<input type="hidden" name="effective" value="immediate">`,
  html`${view.haspending && html`<p>${say`A swap or plan change that you planned will not happen, even if you keep your benefits after all.`}</p>`}
<p>${
    reinstatedays === undefined
      ? say`Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.`
      : hasbegun
        ? say`If you change your mind, you can have your benefits back within ${reinstatedays} days after they end, if you still qualify. You have no coverage in between.`
        : say`If you change your mind, you can bring them back within ${reinstatedays} days of canceling, if you still qualify.`
  }</p>
<p class="actions"><button class="danger">${pending ? say`End my benefits now` : say`Cancel my benefits`}</button>${
    !pending && html`<a class="secondary" href="${page.root}/overview">${say`Keep my benefits`}</a>`
  }</p>`,
])}`,
  })
}

/** One question: when the benefits end. */
function timeChoice(view: CancelView): Html {
  const { page, lastday, effective } = view
  const say = sayIn(page)

  return oneOf(view, 'effective', {
    legend: html`<legend><h2>${say`When should they end?`}</h2></legend>`,
    chosen: effective,
    choices: [
      {
        value: 'endofperiod',
        label: say`At the end of the month. Your last day of coverage is ${dayText(page, lastday)}`,
      },
      { value: 'immediate', label: say`Right now. You have no coverage from this moment on` },
    ],
  })
}
