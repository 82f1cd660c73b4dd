import { reinstateAccount } from '../../../accounts/reinstate.ts'
import { textIn } from '../../../catalogue/model.ts'
import { type Html, html, type Slot } from '../../../http/html.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import { hasConsent, knownBenefit, offerOf } from '../../../membership/rules/terms.ts'
import { detailsOf, groupsIn, missingGroups, newerInDraft, newerThanConfirmed } from '../../session/person.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { visitAfter } from '../../steps/ahead.ts'
import { liveLines } from '../../steps/cards.ts'
import { confirmsOlder, takingBack } from '../../steps/change-own.ts'
import { heldBenefitsOf } from '../../steps/held-benefits.ts'
import { stepOf } from '../../steps/plans.ts'
import type { Step } from '../../steps/step.ts'
import { coverageSection, heldBenefits, totalSection } from '../../views/coverage.ts'
import { groupText, hasValue, shownGroups } from '../../views/details.ts'
import { draftField, form, primary, question } from '../../views/fields.ts'
import { icon } from '../../views/icons.ts'
import { savedNotice } from '../../views/layout.ts'
import { benefitList } from '../../views/lists.ts'
import type { Details, DetailsGroup } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'
import { groupNames } from '../../views/texts.ts'
import { lostFields, lostIn, lostNotice } from './lost-cover.ts'

/**
 * The known details, each with a link to change it: of a newcomer to be confirmed, once what is missing has been asked one group
 * after the other; of a member as confirmed, with the benefits lost by a change just made.
 */
export const review: Step = {
  show: async (visit, { form: asked, errors }) => {
    const { isMember, person } = visit
    const page = detailsPage(visit)
    const say = sayIn(page)
    const details = detailsOf(person)
    const missing = isMember ? [] : missingGroups(person)
    const known = shownGroups(details).filter(group => !missing.includes(group))
    const lost = isMember ? lostIn(visit, asked) : []
    const [first] = missing
    const answers = { page, errors }
    return question('DETAILS_REVIEW', answers, {
      title: say`Check your details`,
      asks: first === undefined,
      body: html`${lost.length > 0 ? lostNotice(page, lost) : savedNotice(page, isMember && asked.has('saved'))}
${comebackPanel(page, visit)}
<p class="lead">${!isMember && person.firstname && `${say`Hello, ${person.firstname}.`} `}${leadOf(page, visit)}</p>
${
  known.some(group => hasValue(page, details, group)) && detailsList(page, details, known, suggestedTo(visit))
}
${
  first === undefined
    ? form(answers, 'details', [
        lostFields(lost),
        primary(isMember ? say`Continue` : say`These are right – continue`),
      ])
    : html`<section class="panel"><h2>${say`We still need this from you`}</h2><ul class="plain">${missing.map(
        group => html`<li>${say(groupNames[group])}</li>`,
      )}</ul></section>
<p class="actions"><a class="primary" href="${page.root}/details/${first}">${say`Continue`}</a></p>`
}
${!isMember && heldBenefits(page, await heldBenefitsOf(visit))}`,
    })
  },
  post: (visit, posted) => {
    if (visit.isMember) return { to: 'overview' }
    if (confirmsOlder(visit, posted)) return 'conflict'
    return { to: missingGroups(visit.person).length > 0 ? 'details' : 'plan' }
  },
}

/** The surroundings of the views about details, which are the first step of a registration. */
export function detailsPage(visit: Visit) {
  return pageOf(visit, visit.isMember ? undefined : stepOf(visit, 'details'))
}

/** The groups in which the partner sent something newer than what the person has answered or confirmed. */
export function suggestedTo({ isMember, sent, person, draft }: Visit): DetailsGroup[] {
  return isMember ? newerThanConfirmed(sent, person) : newerInDraft(sent, draft)
}

/** The details as a list, each with a link to change it. */
function detailsList(
  page: Page,
  details: Details,
  groups: readonly DetailsGroup[],
  suggested: readonly DetailsGroup[],
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

/** Says where the details come from; those of a member are the person's own. */
function leadOf(page: Page, { isMember, user, sent, person, draft }: Visit): string {
  const say = sayIn(page)
  const partner = page.partner.displayname
  if (isMember) return say`Correct anything that is wrong or out of date.`
  if (groupsIn(sent).length > 0)
    return Object.keys(draft.answers).length > 0
      ? say`Some of this is what ${partner} shared with us, and some is what you answered. Correct anything wrong.`
      : say`${partner} shared these with us. Correct anything wrong.`
  if (groupsIn(person).length === 0)
    return say`${partner} did not share any details. We ask for the few we need.`
  return user.status === 'cancelled'
    ? say`This is what we know from before. Correct anything wrong.`
    : say`These are your answers so far. Correct anything wrong.`
}

/** Restores offer and benefits after a cancel, during the days in which that is allowed; a repeat changes nothing. */
export const comeback: Step = takingBack('details', user => user.status !== 'active', 'as shown')

/** What a person who canceled can have back with one press, above the way to enroll anew; empty where they cannot. */
function comebackPanel(page: Page, visit: Visit): Slot {
  const { user, now, terms } = visit
  if (user.status !== 'cancelled') return null
  const trial = reinstateAccount(user, now, terms)
  if (isRefusal(trial)) return null
  const offer = offerOf(terms, trial.user)
  const benefits = liveLines(visitAfter(visit, trial)).map(({ since, ...line }) =>
    since === undefined ? line : { ...line, startson: since },
  )
  if (!offer || benefits.length === 0) return null
  const known = benefits.flatMap(({ name }) => knownBenefit(terms, trial.user, name) ?? [])
  const isAgreed = known.some(benefit => benefit.consent && hasConsent(trial.user, benefit))
  const isNamed = known.some(one => one.beneficiaries && designationOf(trial.user, one.name) !== undefined)
  const say = sayIn(page)
  return html`<section class="panel"><h2>${say`You can have your benefits back`}</h2><p>${say`${textIn(offer.displayname, page.locale)} was canceled. These benefits can start again:`}</p>
${benefitList(page, benefits)}
${coverageSection(page, benefits)}
${totalSection(page, benefits)}
${isAgreed && html`<p>${say`What you agreed to before holds again.`}</p>`}
${isNamed && html`<p>${say`The beneficiaries you named before count again.`}</p>`}
<form method="post" action="${page.root}/comeback">${draftField(page)}<p>
<button class="primary">${say`Bring my benefits back`}</button></p></form></section>
<h2>${say`Or enroll anew`}</h2>`
}
