import type { Instant } from '../../calendar/calendar.ts'
import { textIn } from '../../catalogue/model.ts'
import { html, type Slot } from '../../http/html.ts'
import { isHeld } from '../../membership/rules/state.ts'
import { judgeOwnOffer, offerOf } from '../../membership/rules/terms.ts'
import { newerThanConfirmed } from '../session/person.ts'
import { wayBack } from '../session/session.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { isMoveCalledOff, isPairCalledOff, planName } from '../steps/ahead.ts'
import { leavingOn, liveLines, localDay, nameLine } from '../steps/cards.ts'
import { copiesOf } from '../steps/copies.ts'
import { heldBenefitsOf } from '../steps/held-benefits.ts'
import { memberPaths, stillToDo } from '../steps/member-choices.ts'
import type { Step } from '../steps/step.ts'
import { copyList, heldBenefits, totalFacts } from '../views/coverage.ts'
import { dayText, namesText } from '../views/format.ts'
import { icon } from '../views/icons.ts'
import { benefitList, leave, leavingNotice, memberPathList, pathList, thingsToDo } from '../views/lists.ts'
import { passageIn, sayIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'
import { groupNames } from '../views/texts.ts'

/** The person is already enrolled: the benefits in force, and links to what can be done. */
export const overview: Step = {
  show: async visit => {
    const offer = offerOf(visit.terms, visit.user)
    if (!visit.isMember || !offer) return { to: '' }
    const page = pageOf(visit)
    const say = sayIn(page)
    const name = textIn(offer.displayname, visit.locale)
    const benefits = liveLines(visit)
    const suggested = newerThanConfirmed(visit.sent, visit.person).map(group => say(groupNames[group]))
    const leaving = leavingOn(visit)
    const body = html`<h1 tabindex="-1">${say`Your benefits`}</h1>
<p class="lead">${benefits.length > 0 ? say`Your plan is ${name}.` : say`Your plan is ${name}. You have no benefits right now.`}</p>
${totalFacts(page, benefits)}
${
  suggested.length > 0 &&
  html`<p class="notice info">${icon('info')}<span>${say`${page.partner.displayname} sent newer details for: ${namesText(
    page,
    suggested,
  )}. You can use them under “${say`Check your details`}” below.`}</span></p>`
}
${pathList(page, thingsToDo(page, stillToDo(visit)))}
${leaving !== undefined && leavingNotice(page, leaving, 'all')}
${pendingNotices(page, visit)}
${visit.user.offer?.admits === false && ineligibleNotice(page, visit, name)}
${benefits.length > 0 && benefitList(page, benefits)}
${heldBenefits(page, await heldBenefitsOf(visit))}
${memberPathList(page, memberPaths(visit))}
${copyList(page, await copiesOf(visit))}
${leave(page, { redirecturl: wayBack(visit) })}`
    return { view: 'ALREADY_ENROLLED', page, content: { title: say`Your benefits`, body } }
  },
}

/** Tells a member which changes are planned, since the benefits' dates alone do not say why; empty when none. */
function pendingNotices(page: Page, visit: Visit): Slot {
  const { pendingOffer, swap } = visit.user
  const say = sayIn(page)
  const on = (at: Instant) => dayText(page, localDay(visit, at))
  const line = (text: string, to: string) =>
    html`<p class="notice info">${icon('clock')}<span>${text} <a href="${page.root}/${to}">${say`See what changes`}<span
class="unseen">: ${text}</span></a></span></p>`
  const plan = pendingOffer && planName(visit, pendingOffer.name)
  return [
    pendingOffer &&
      line(
        isMoveCalledOff(visit)
          ? `${say`As things are now, you will not move to ${plan ?? ''} on ${on(pendingOffer.at)}`}.`
          : say`You move to ${plan ?? ''} on ${on(pendingOffer.at)}.`,
        'offer',
      ),
    swap &&
      line(
        swap.pairs.every(pair => isPairCalledOff(visit, pair))
          ? say`As things are now, the swap planned for ${on(swap.at)} will not happen.`
          : say`A swap is planned for ${on(swap.at)}.`,
        'swap',
      ),
    visit.user.enrolments
      .filter(isHeld)
      .map(
        ({ benefit, pendingCover, startsAt }) =>
          pendingCover &&
          line(
            say`Who is covered by ${nameLine(visit, benefit).displayname} changes on ${on(Math.max(pendingCover.at, startsAt))}.`,
            `cover/${benefit}`,
          ),
      ),
  ]
}

/**
 * Tells a member whose details no longer fit their plan why, what stays, until when, and whom to ask. For a member whose
 * benefits are about to end it leaves out what stays.
 */
function ineligibleNotice(page: Page, visit: Visit, offername: string): Slot {
  const reasons = judgeOwnOffer(visit.terms, visit.user)?.reasons ?? []
  const isLeaving = leavingOn(visit) !== undefined
  const say = sayIn(page)

  return html`<section class="notice info">${icon('info')}<div><h2>${say`Your details no longer fit the rules of ${offername}`}</h2>
${reasons.length > 0 && html`<ul class="plain">${reasons.map(({ text }) => html`<li>${passageIn(text, page.locale)}</li>`)}</ul>`}
${!isLeaving && html`<p>${say`This alone does not end your plan or the benefits listed here. A benefit that shows an end date ends on that day.`}</p>`}<p>${say`If you leave ${offername}, you may not be able to come back to it.`}</p>
<p>${say`If one of your details is wrong, correct it under “${say`Check your details`}” below.`} ${say`If you have questions, ask ${page.partner.displayname}.`}</p></div></section>`
}
