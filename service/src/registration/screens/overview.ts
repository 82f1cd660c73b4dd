import { html, type Slot } from '../../http/html.ts'
import { judgeOwnOffer, offerOf } from '../../membership/rules/terms.ts'
import { newerThanConfirmed } from '../session/answers.ts'
import { wayBack } from '../session/session.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { isMoveCalledOff, isPairCalledOff, planName } from '../steps/ahead.ts'
import { leavingOn, liveLines, localDay } from '../steps/cards.ts'
import { copiesOf } from '../steps/copies.ts'
import { heldBenefitsOf } from '../steps/held-benefits.ts'
import { memberPaths, stillToDo } from '../steps/member-choices.ts'
import type { Step } from '../steps/step.ts'
import { copyList, heldBenefits, totalFacts } from '../views/coverage.ts'
import { dayText, namesText } from '../views/format.ts'
import { icon } from '../views/icons.ts'
import type { Content } from '../views/layout.ts'
import { benefitList, leave, leavingNotice, memberPathList, pathList, thingsToDo } from '../views/lists.ts'
import type {
  BenefitLine,
  CopyLink,
  DetailsGroup,
  HeldBenefit,
  IsoDate,
  MemberPaths,
  StillToDo,
} from '../views/parts.ts'
import { inBoth, type Page, type ViewOf } from '../views/surroundings.ts'
import { textsOf } from '../views/texts.ts'

/** The person is already enrolled: the benefits in force, and what can be done with them. */
export type AlreadyEnrolledView = ViewOf<'ALREADY_ENROLLED'> & {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** Each of them that is in force, and those that ended lately, with how it is used. */
  readonly held?: readonly HeldBenefit[] | undefined
  /** Groups in which the partner sent newer data than the person confirmed. */
  readonly suggested: readonly DetailsGroup[]
  readonly paths: MemberPaths
  /** The last day of all benefits, if they are about to end. */
  readonly leaving?: IsoDate | undefined
  readonly pending?: PendingChanges
  /** Why the person's details no longer fit the rules of their plan, if so. */
  readonly ineligible?: { readonly reasons: readonly string[] } | undefined
  /** What the person agreed to, newest first. */
  readonly copies?: readonly CopyLink[]
  readonly todo?: StillToDo | undefined
  readonly redirecturl?: string | undefined
}

/** What a member has planned, with its day, and whether it will not happen as things are. */
type PendingChange = { readonly on: IsoDate; readonly iscalledoff?: boolean }

/** The changes that a member has planned: another plan, a swap. */
type PendingChanges = {
  readonly plan?: (PendingChange & { readonly displayname: string }) | undefined
  readonly swap?: PendingChange | undefined
}

/** What a member has, and what they can do with it. */
export const overview: Step<AlreadyEnrolledView> = {
  show: async visit => {
    const offer = offerOf(visit.terms, visit.user)
    if (!visit.isMember || !offer) return { to: '' }
    return {
      view: 'ALREADY_ENROLLED',
      page: pageOf(visit),
      offername: offer.displayname[visit.locale],
      benefits: liveLines(visit),
      held: await heldBenefitsOf(visit),
      suggested: newerThanConfirmed(visit.sent, visit.person),
      paths: memberPaths(visit),
      ineligible: ineligibleIn(visit),
      leaving: leavingOn(visit),
      pending: pendingIn(visit),
      copies: await copiesOf(visit),
      todo: stillToDo(visit),
      redirecturl: wayBack(visit),
    }
  },
}

function pendingIn(visit: Visit): PendingChanges {
  const { pendingOffer, swap } = visit.user
  return {
    plan: pendingOffer && {
      displayname: planName(visit, pendingOffer.name),
      on: localDay(visit, pendingOffer.at),
      iscalledoff: isMoveCalledOff(visit),
    },
    swap: swap && {
      on: localDay(visit, swap.at),
      iscalledoff: swap.pairs.every(pair => isPairCalledOff(visit, pair)),
    },
  }
}

/** Why the rules of the member's plan would not admit them today, if so. */
function ineligibleIn({ user, terms, locale }: Visit): { reasons: readonly string[] } | undefined {
  if (user.offer?.admits !== false) return undefined
  const reasons = judgeOwnOffer(terms, user)?.reasons ?? []
  return { reasons: reasons.map(reason => reason.text[locale]) }
}

/** The words about a member’s situation. */
export const overviewWords = inBoth({
  en: {
    /** The partner sent details that differ from the confirmed ones; `link` leads to where the person can use them. */
    newer: (partner: string, details: string, link: string) =>
      `${partner} sent newer details for: ${details}. You can use them under “${link}” below.`,
    /** For a member whose details no longer fit the rules of their plan. */
    ineligible: {
      title: (plan: string) => `Your details no longer fit the rules of ${plan}`,
      keeps:
        'This alone does not end your plan or the benefits listed here. A benefit that shows an end date ends on that day.',
      back: (plan: string) => `If you leave ${plan}, you may not be able to come back to it.`,
      correct: (link: string) => `If one of your details is wrong, correct it under “${link}” below.`,
      ask: (partner: string) => `If you have questions, ask ${partner}.`,
    },
    plan: (name: string, on: string) => `You move to ${name} on ${on}.`,
    swap: (on: string) => `A swap is planned for ${on}.`,
    see: 'See what changes',
  },
  es: {
    newer: (partner, details, link) =>
      `${partner} envió datos más recientes de: ${details}. Puede usarlos en “${link}”, más abajo.`,
    ineligible: {
      title: plan => `Sus datos ya no cumplen las reglas de ${plan}`,
      keeps:
        'Esto por sí solo no termina su plan ni los beneficios de esta lista. Un beneficio que indica una fecha de fin termina ese día.',
      back: plan => `Si deja ${plan}, es posible que no pueda volver a tenerlo.`,
      correct: link => `Si alguno de sus datos es incorrecto, corríjalo en “${link}”, más abajo.`,
      ask: partner => `Si tiene preguntas, consulte a ${partner}.`,
    },
    plan: (name, on) => `Pasa a ${name} el ${on}.`,
    swap: on => `Hay un intercambio previsto para el ${on}.`,
    see: 'Ver qué cambia',
  },
})

/** The person is already enrolled: the benefits in force, and links to what can be done. */
export function drawOverview(view: AlreadyEnrolledView): Content {
  const { page } = view
  const texts = textsOf(page)
  const words = texts.already
  const own = overviewWords[page.locale]
  return {
    title: words.title,
    body: html`<h1 tabindex="-1">${words.title}</h1>
<p class="lead">${view.benefits.length > 0 ? words.plan(view.offername) : texts.standing.nothing(view.offername)}</p>
${totalFacts(page, view.benefits)}
${
  view.suggested.length > 0 &&
  html`<p class="notice info">${icon('info')}<span>${own.newer(
    page.partner.displayname,
    namesText(
      page,
      view.suggested.map(group => texts.group[group]),
    ),
    words.details,
  )}</span></p>`
}
${pathList(page, thingsToDo(page, view.todo))}
${view.leaving !== undefined && leavingNotice(page, view.leaving, 'all')}
${pendingNotices(page, view.pending)}
${ineligibleNotice(
  page,
  view.ineligible && { offername: view.offername, isLeaving: view.leaving !== undefined, ...view.ineligible },
)}
${view.benefits.length > 0 && benefitList(page, view.benefits)}
${heldBenefits(page, view.held)}
${memberPathList(page, view.paths)}
${copyList(page, view.copies)}
${leave(page, { redirecturl: view.redirecturl })}`,
  }
}

/** Tells a member which changes are planned, since the benefits' dates alone do not say why; empty when none. */
function pendingNotices(page: Page, { plan, swap }: PendingChanges = {}): Slot {
  const texts = textsOf(page)
  const words = overviewWords[page.locale]
  const line = (text: string, to: string) =>
    html`<p class="notice info">${icon('clock')}<span>${text} <a href="${page.root}/${to}">${words.see}<span
class="unseen">: ${text}</span></a></span></p>`
  return [
    plan?.iscalledoff &&
      line(`${texts.standing.pending.noplan(plan.displayname, dayText(page, plan.on))}.`, 'offer'),
    plan && !plan.iscalledoff && line(words.plan(plan.displayname, dayText(page, plan.on)), 'offer'),
    swap &&
      line((swap.iscalledoff ? texts.standing.pending.noswap : words.swap)(dayText(page, swap.on)), 'swap'),
  ]
}

/**
 * Tells a member whose details no longer fit their plan what stays, until when, and whom to ask. For a member whose
 * benefits are about to end (`isLeaving`) it leaves out what stays.
 */
function ineligibleNotice(
  page: Page,
  about:
    | { readonly offername: string; readonly reasons: readonly string[]; readonly isLeaving: boolean }
    | undefined,
): Slot {
  const texts = textsOf(page)
  if (!about) return null
  const { offername, reasons, isLeaving } = about
  const words = overviewWords[page.locale].ineligible
  return html`<section class="notice info">${icon('info')}<div><h2>${words.title(offername)}</h2>
${reasons.length > 0 && html`<ul class="plain">${reasons.map(reason => html`<li>${reason}</li>`)}</ul>`}
${!isLeaving && html`<p>${words.keeps}</p>`}<p>${words.back(offername)}</p>
<p>${words.correct(texts.already.details)} ${words.ask(page.partner.displayname)}</p></div></section>`
}
