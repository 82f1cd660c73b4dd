import { type Html, html } from '../../../http/html.ts'
import {
  detailsOf,
  groupsIn,
  missingGroups,
  newerInDraft,
  newerThanConfirmed,
} from '../../session/answers.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { heldBenefitsOf } from '../../steps/held-benefits.ts'
import { stepOf } from '../../steps/plans.ts'
import { confirmsOlder } from '../../steps/save-answers.ts'
import type { Step } from '../../steps/step.ts'
import { heldBenefits } from '../../views/coverage.ts'
import { groupText, hasValue, shownGroups } from '../../views/details.ts'
import type { Asking } from '../../views/faults.ts'
import { form, primary, question } from '../../views/fields.ts'
import { icon } from '../../views/icons.ts'
import { type Content, savedNotice } from '../../views/layout.ts'
import type { Details, DetailsGroup, HeldBenefit } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page, ViewOf } from '../../views/surroundings.ts'
import { groupNames } from '../../views/texts.ts'
import { type Comeback, comebackOf, comebackPanel } from './come-back.ts'
import { type LostCover, lostFields, lostIn, lostNotice } from './lost-cover.ts'

/** The known details, each with a link to change it. For a newcomer this is the first view. */
export type DetailsReviewView = ViewOf<'DETAILS_REVIEW'> &
  Asking & {
    readonly details: Details
    /** Where the details come from, which the first sentence says; of a member, they are the person's own. */
    readonly from: 'partner' | 'both' | 'before' | 'answers' | 'nowhere' | 'member'
    /** The name to greet a newcomer with. */
    readonly firstname?: string | undefined
    readonly comeback?: Comeback | undefined
    /** Groups that the person must answer before going on; asked one after the other. */
    readonly missing: readonly DetailsGroup[]
    /** Groups in which the partner sent newer data than the person confirmed. */
    readonly suggested: readonly DetailsGroup[]
    /** What a former member had until lately, with how it is used for what happened before. */
    readonly held?: readonly HeldBenefit[] | undefined
    /** What a change of these details has just cost a member. */
    readonly lost?: readonly LostCover[]
    /** A member's details were saved just now. */
    readonly saved?: boolean
  }

/**
 * The known details, each with a link to change it: of a newcomer to be confirmed, of a member as confirmed, with the
 * benefits lost by a change just made.
 */
export const review: Step<DetailsReviewView> = {
  show: async (visit, typed) => ({
    view: 'DETAILS_REVIEW',
    page: detailsPage(visit),
    details: detailsOf(visit.person),
    from: originOf(visit),
    ...(visit.isMember
      ? {}
      : {
          firstname: visit.person.firstname,
          comeback: comebackOf(visit),
          held: await heldBenefitsOf(visit),
        }),
    missing: visit.isMember ? [] : missingGroups(visit.person),
    suggested: suggestedTo(visit),
    lost: visit.isMember ? lostIn(visit, typed.form) : [],
    saved: visit.isMember && typed.form.has('saved'),
  }),
  post: (visit, form) => {
    if (visit.isMember) return { to: 'overview' }
    if (confirmsOlder(visit, form)) return 'conflict'
    return { to: missingGroups(visit.person).length > 0 ? 'details' : 'plan' }
  },
}

function originOf({ isMember, user, sent, person, draft }: Visit): DetailsReviewView['from'] {
  if (isMember) return 'member'
  if (groupsIn(sent).length > 0) return Object.keys(draft.answers).length > 0 ? 'both' : 'partner'
  if (groupsIn(person).length === 0) return 'nowhere'
  return user.status === 'cancelled' ? 'before' : 'answers'
}

/** The surroundings of the views about details, which are the first step of a registration. */
export function detailsPage(visit: Visit) {
  return pageOf(visit, visit.isMember ? undefined : stepOf(visit, 'details'))
}

/** The groups in which the partner sent something newer than what the person has answered or confirmed. */
export function suggestedTo({ isMember, sent, person, draft }: Visit): DetailsGroup[] {
  return isMember ? newerThanConfirmed(sent, person) : newerInDraft(sent, draft)
}

/** The known details of the person. What is missing is asked one group after the other, before they are confirmed. */
export function drawReview(view: DetailsReviewView): Content {
  const { page, details, missing, suggested, lost = [], firstname, comeback, held } = view
  const say = sayIn(page)
  const known = shownGroups(details).filter(group => !missing.includes(group))
  const [first] = missing
  return question(view, {
    title: say`Check your details`,
    asks: first === undefined,
    body: html`${lost.length > 0 ? lostNotice(page, lost) : savedNotice(page, view.saved)}
${comeback && comebackPanel(page, comeback)}
<p class="lead">${firstname && `${say`Hello, ${firstname}.`} `}${leadOf(view)}</p>
${known.some(group => hasValue(page, details, group)) && detailsList(page, details, known, suggested)}
${
  first === undefined
    ? form(view, 'details', [
        lostFields(lost),
        primary(view.from === 'member' ? say`Continue` : say`These are right – continue`),
      ])
    : html`<section class="panel"><h2>${say`We still need this from you`}</h2><ul class="plain">${missing.map(
        group => html`<li>${say(groupNames[group])}</li>`,
      )}</ul></section>
<p class="actions"><a class="primary" href="${page.root}/details/${first}">${say`Continue`}</a></p>`
}
${heldBenefits(page, held)}`,
  })
}

/** The details as a list, each with a link to change it. */
function detailsList(
  page: Page,
  details: Details,
  groups: readonly DetailsGroup[],
  suggested: readonly DetailsGroup[] = [],
): Html {
  const say = sayIn(page)

  return html`<dl class="answers">${groups.map(
    group =>
      html`<div><dt>${say(groupNames[group])}</dt><dd>${groupText(page, details, group)}${
        suggested.includes(group) &&
        html`<p class="hint withsign">${icon('info')}${say`${page.partner.displayname} sent a newer value`}. ${say`We kept what you confirmed. Choose Change to use the newer one.`}</p>`
      }</dd><dd class="act"><a href="${page.root}/details/${group}">${say`Change`}<span
class="unseen"> – ${say(groupNames[group])}</span></a></dd></div>`,
  )}</dl>`
}

/** Says where the details come from. */
function leadOf({ page, from }: DetailsReviewView): string {
  const say = sayIn(page)
  const partner = page.partner.displayname
  switch (from) {
    case 'partner':
      return say`${partner} shared these with us. Correct anything wrong.`
    case 'both':
      return say`Some of this is what ${partner} shared with us, and some is what you answered. Correct anything wrong.`
    case 'before':
      return say`This is what we know from before. Correct anything wrong.`
    case 'answers':
      return say`These are your answers so far. Correct anything wrong.`
    case 'nowhere':
      return say`${partner} did not share any details. We ask for the few we need.`
    case 'member':
      return say`Correct anything that is wrong or out of date.`
  }
}
