import { cancelAccount } from '../../accounts/lifecycle.ts'
import { boundaryAfter } from '../../calendar/calendar.ts'
import { type Html, html } from '../../http/html.ts'
import { hasPendingCancel, isHeld, isInForce, isLive } from '../../membership/rules/state.ts'
import { displayNameOf } from '../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { mayComeBack } from '../steps/ahead.ts'
import { lastDayOf, liveLines } from '../steps/cards.ts'
import type { OwnChange } from '../steps/change-own.ts'
import { changeAndConfirm, takingBack } from '../steps/change-own.ts'
import type { Step } from '../steps/step.ts'
import { parseOneOf } from '../steps/step.ts'
import { isFaulty } from '../views/faults.ts'
import { type Answers, form, oneOf, question } from '../views/fields.ts'
import { dayText, namesText } from '../views/format.ts'
import { benefitList, leavingNotice } from '../views/lists.ts'
import type { IsoDate } from '../views/parts.ts'
import { sayIn } from '../views/say.ts'

/** What a cancel ends, and when; a pending one can be undone here, or be made to take effect at once. */
export const cancel: Step = {
  show: (visit, { posted, errors }) => {
    if (!visit.isMember) return { to: 'overview' }
    const { user, now, partner } = visit
    const hasBegun = user.offer?.inForce ?? false
    const page = pageOf(visit)
    const say = sayIn(page)
    const benefits = liveLines(visit, hasBegun ? isInForce : isLive)
    const notBegun = hasBegun ? namesNotBegun(visit) : []
    const pendingOn = user.cancel && lastDayOf(visit, user.cancel.at)
    const hasPending = user.swap !== undefined || user.pendingOffer !== undefined
    const lead =
      pendingOn !== undefined
        ? say`If you do not want to wait until ${dayText(page, pendingOn)}, you can end all of these right now:`
        : hasBegun
          ? say`If you cancel, all of these end:`
          : say`Your benefits have not started yet. If you cancel, they will not start.`
    const isAsked = hasBegun && pendingOn === undefined
    const answers = { page, errors }
    return question('CANCEL', answers, {
      title: pendingOn === undefined ? say`Cancel your benefits` : say`End your benefits now`,
      back: 'overview',
      body: html`${pendingOn !== undefined && leavingNotice(page, pendingOn, 'all')}
${(benefits.length > 0 || !hasBegun) && html`<p class="lead">${lead}</p>`}
${benefits.length > 0 && benefitList(page, benefits)}
${notBegun.length > 0 && html`<p>${say`These have not started and will not: ${namesText(page, notBegun)}.`}</p>`}
${form(answers, 'cancel', [
  isAsked
    ? timeChoice(answers, lastDayOf(visit, boundaryAfter(now, partner.timezone)), posted?.get('effective'))
    : html`<input type="hidden" name="effective" value="immediate">`,
  html`${hasPending && html`<p>${say`A swap or plan change that you planned will not happen, even if you keep your benefits after all.`}</p>`}
<p>${
    !mayComeBack(visit)
      ? say`Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.`
      : hasBegun
        ? say`If you change your mind, you can have your benefits back within ${DAYS_TO_REINSTATE} days after they end, if you still qualify. You have no coverage in between.`
        : say`If you change your mind, you can bring them back within ${DAYS_TO_REINSTATE} days of canceling, if you still qualify.`
  }</p>
<p class="actions"><button class="danger">${
    pendingOn === undefined ? say`Cancel my benefits` : say`End my benefits now`
  }</button>${
    pendingOn === undefined &&
    html`<a class="secondary" href="${page.root}/overview">${say`Keep my benefits`}</a>`
  }</p>`,
])}`,
    })
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
export const cancelUndo: Step = takingBack('cancel', hasPendingCancel)

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

/** One question: when the benefits end. */
function timeChoice(answers: Answers, lastDay: IsoDate, chosen: string | null | undefined): Html {
  const { page } = answers
  const say = sayIn(page)
  return oneOf(answers, 'effective', {
    legend: html`<legend><h2>${say`When should they end?`}</h2></legend>`,
    chosen: chosen ?? undefined,
    choices: [
      {
        value: 'endofperiod',
        label: say`At the end of the month. Your last day of coverage is ${dayText(page, lastDay)}`,
      },
      { value: 'immediate', label: say`Right now. You have no coverage from this moment on` },
    ],
  })
}
