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
import { sayIn } from '../views/say.ts'
import type { Page, ViewOf } from '../views/surroundings.ts'
import { groupNames } from '../views/texts.ts'

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

/** The person is already enrolled: the benefits in force, and links to what can be done. */
export function drawOverview(view: AlreadyEnrolledView): Content {
  const { page } = view
  const say = sayIn(page)

  return {
    title: say`Your benefits`,
    body: html`<h1 tabindex="-1">${say`Your benefits`}</h1>
<p class="lead">${view.benefits.length > 0 ? say`Your plan is ${view.offername}.` : say`Your plan is ${view.offername}. You have no benefits right now.`}</p>
${totalFacts(page, view.benefits)}
${
  view.suggested.length > 0 &&
  html`<p class="notice info">${icon('info')}<span>${say`${page.partner.displayname} sent newer details for: ${namesText(
    page,
    view.suggested.map(group => say(groupNames[group])),
  )}. You can use them under “${say`Check your details`}” below.`}</span></p>`
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
  const say = sayIn(page)
  const line = (text: string, to: string) =>
    html`<p class="notice info">${icon('clock')}<span>${text} <a href="${page.root}/${to}">${say`See what changes`}<span
class="unseen">: ${text}</span></a></span></p>`
  return [
    plan?.iscalledoff &&
      line(
        `${say`As things are now, you will not move to ${plan.displayname} on ${dayText(page, plan.on)}`}.`,
        'offer',
      ),
    plan &&
      !plan.iscalledoff &&
      line(say`You move to ${plan.displayname} on ${dayText(page, plan.on)}.`, 'offer'),
    swap &&
      line(
        swap.iscalledoff
          ? say`As things are now, the swap planned for ${dayText(page, swap.on)} will not happen.`
          : say`A swap is planned for ${dayText(page, swap.on)}.`,
        'swap',
      ),
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
  if (!about) return null
  const { offername, reasons, isLeaving } = about
  const say = sayIn(page)

  return html`<section class="notice info">${icon('info')}<div><h2>${say`Your details no longer fit the rules of ${offername}`}</h2>
${reasons.length > 0 && html`<ul class="plain">${reasons.map(reason => html`<li>${reason}</li>`)}</ul>`}
${!isLeaving && html`<p>${say`This alone does not end your plan or the benefits listed here. A benefit that shows an end date ends on that day.`}</p>`}<p>${say`If you leave ${offername}, you may not be able to come back to it.`}</p>
<p>${say`If one of your details is wrong, correct it under “${say`Check your details`}” below.`} ${say`If you have questions, ask ${page.partner.displayname}.`}</p></div></section>`
}
