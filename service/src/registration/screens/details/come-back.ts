import { reinstateAccount } from '../../../accounts/reinstate.ts'
import { html, type Slot } from '../../../http/html.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import { hasConsent, knownBenefit, offerOf } from '../../../membership/rules/terms.ts'
import type { Visit } from '../../session/visit.ts'
import { visitAfter } from '../../steps/ahead.ts'
import { liveLines } from '../../steps/cards.ts'
import type { Step } from '../../steps/step.ts'
import { takingBack } from '../../steps/taking-back.ts'
import { coverageSection, totalSection } from '../../views/coverage.ts'
import { draftField } from '../../views/fields.ts'
import { benefitList } from '../../views/lists.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/** Restores offer and benefits after a cancel, during the days in which that is allowed; a repeat changes nothing. */
export const comeback: Step = takingBack('details', user => user.status !== 'active', 'as shown')

/** What a person who canceled can have back with one press, above the way to enroll anew; empty where they cannot. */
export function comebackPanel(page: Page, visit: Visit): Slot {
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
  return html`<section class="panel"><h2>${say`You can have your benefits back`}</h2><p>${say`${offer.displayname[page.locale]} was canceled. These benefits can start again:`}</p>
${benefitList(page, benefits)}
${coverageSection(page, benefits)}
${totalSection(page, benefits)}
${isAgreed && html`<p>${say`What you agreed to before holds again.`}</p>`}
${isNamed && html`<p>${say`The beneficiaries you named before count again.`}</p>`}
<form method="post" action="${page.root}/comeback">${draftField(page)}<p>
<button class="primary">${say`Bring my benefits back`}</button></p></form></section>
<h2>${say`Or enroll anew`}</h2>`
}
