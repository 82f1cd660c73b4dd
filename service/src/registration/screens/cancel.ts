import { cancelAccount } from '../../accounts/lifecycle.ts'
import { boundaryAfter } from '../../calendar/calendar.ts'
import { type Html, html } from '../../http/html.ts'
import { hasPendingCancel, isHeld, isInForce, isLive } from '../../membership/rules/state.ts'
import { displayNameOf } from '../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { lastDayOf, liveLines } from '../steps/cards.ts'
import type { OwnChange } from '../steps/change-own.ts'
import { changeAndConfirm } from '../steps/outcomes.ts'
import { parseOneOf } from '../steps/posted.ts'
import type { Step } from '../steps/step.ts'
import { mayComeBack, takingBack } from '../steps/taking-back.ts'
import { type Asking, isFaulty } from '../views/faults.ts'
import { form, oneOf, question } from '../views/fields.ts'
import { dayText, namesText } from '../views/format.ts'
import type { Content } from '../views/layout.ts'
import { benefitList, leavingNotice } from '../views/lists.ts'
import type { BenefitLine, IsoDate } from '../views/parts.ts'
import { inBoth, type ViewOf } from '../views/surroundings.ts'
import { textsOf } from '../views/texts.ts'

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

/** The words of a cancel. */
export const cancelWords = inBoth({
  en: {
    title: 'Cancel your benefits',
    lead: 'If you cancel, all of these end:',
    when: 'When should they end?',
    endofperiod: (on: string) => `At the end of the month. Your last day of coverage is ${on}`,
    immediate: 'Right now. You have no coverage from this moment on',
    neverbegun: 'Your benefits have not started yet. If you cancel, they will not start.',
    pending:
      'A swap or plan change that you planned will not happen, even if you keep your benefits after all.',
    reinstate: (days: number) =>
      `If you change your mind, you can have your benefits back within ${days} days after they end, if you still qualify. You have no coverage in between.`,
    button: 'Cancel my benefits',
    /** For a member who cancels before anything has started. */
    backbeforestart: (days: number) =>
      `If you change your mind, you can bring them back within ${days} days of canceling, if you still qualify.`,
  },
  es: {
    title: 'Cancele sus beneficios',
    lead: 'Si cancela, terminan todos estos:',
    when: '¿Cuándo deben terminar?',
    endofperiod: on => `Al final del mes. Su último día de cobertura es el ${on}`,
    immediate: 'Ahora mismo. Deja de tener cobertura desde este momento',
    neverbegun: 'Sus beneficios todavía no han empezado. Si cancela, no van a empezar.',
    pending:
      'El intercambio o cambio de plan que tenía previsto no se hará, aunque después decida conservar sus beneficios.',
    reinstate: days =>
      `Si cambia de opinión, puede recuperar sus beneficios dentro de los ${days} días después de que terminen, si todavía cumple los requisitos. En ese tiempo no tiene cobertura.`,
    button: 'Cancelar mis beneficios',
    backbeforestart: days =>
      `Si cambia de opinión, puede recuperarlos dentro de los ${days} días después de cancelar, si todavía cumple los requisitos.`,
  },
})

/** What a cancel ends, and when. A pending cancel can be undone here, or be made to take effect at once. */
export function drawCancel(view: CancelView): Content {
  const { page, benefits, notbegun = [], pending, reinstatedays, hasbegun } = view
  const texts = textsOf(page)
  const words = cancelWords[page.locale]
  const standing = texts.standing
  const { now, keep } = standing.leaving
  const title = pending ? now.title : words.title
  const lead = pending ? now.lead(dayText(page, pending.on)) : hasbegun ? words.lead : words.neverbegun
  return question(view, {
    title,
    back: 'overview',
    body: html`${pending && leavingNotice(page, pending.on, 'all')}
${(benefits.length > 0 || !hasbegun) && html`<p class="lead">${lead}</p>`}
${benefits.length > 0 && benefitList(page, benefits)}
${notbegun.length > 0 && html`<p>${standing.notbegun(namesText(page, notbegun))}</p>`}
${form(view, 'cancel', [
  hasbegun && !pending ? timeChoice(view) : html`<input type="hidden" name="effective" value="immediate">`,
  html`${view.haspending && html`<p>${words.pending}</p>`}
<p>${
    reinstatedays === undefined
      ? standing.noreturn
      : hasbegun
        ? words.reinstate(reinstatedays)
        : words.backbeforestart(reinstatedays)
  }</p>
<p class="actions"><button class="danger">${pending ? now.button : words.button}</button>${
    !pending && html`<a class="secondary" href="${page.root}/overview">${keep}</a>`
  }</p>`,
])}`,
  })
}

/** One question: when the benefits end. */
function timeChoice(view: CancelView): Html {
  const { page, lastday, effective } = view
  const words = cancelWords[page.locale]
  return oneOf(view, 'effective', {
    legend: html`<legend><h2>${words.when}</h2></legend>`,
    chosen: effective,
    choices: [
      { value: 'endofperiod', label: words.endofperiod(dayText(page, lastday)) },
      { value: 'immediate', label: words.immediate },
    ],
  })
}
