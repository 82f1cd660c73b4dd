import { reinstateAccount } from '../../../accounts/reinstate.ts'
import { type Html, html } from '../../../http/html.ts'
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
import type { BenefitLine } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/** What a person who canceled can restore at once. */
export type Comeback = {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** True when an agreement given before the cancel is valid again. */
  readonly agreed?: boolean | undefined
  /** True when beneficiaries named before the cancel count again. */
  readonly named?: boolean | undefined
}

/** What would be restored if the person undid their cancel now; `undefined` when that is not possible. */
export function comebackOf(visit: Visit): Comeback | undefined {
  const { user, now, terms } = visit
  if (user.status !== 'cancelled') return undefined
  const trial = reinstateAccount(user, now, terms)
  if (isRefusal(trial)) return undefined
  const offer = offerOf(terms, trial.user)
  const benefits = liveLines(visitAfter(visit, trial)).map(({ since, ...line }) =>
    since === undefined ? line : { ...line, startson: since },
  )
  if (!offer || benefits.length === 0) return undefined
  const known = benefits.flatMap(({ name }) => knownBenefit(terms, trial.user, name) ?? [])
  return {
    offername: offer.displayname[visit.locale],
    benefits,
    agreed: known.some(benefit => benefit.consent && hasConsent(trial.user, benefit)),
    named: known.some(
      ({ name, beneficiaries }) => beneficiaries && designationOf(trial.user, name) !== undefined,
    ),
  }
}

/** Restores offer and benefits after a cancel, during the days in which that is allowed; a repeat changes nothing. */
export const comeback: Step<never> = takingBack('details', user => user.status !== 'active', 'as shown')

/** What a person who canceled can have back with one press, above the way to enroll anew. */
export function comebackPanel(page: Page, comeback: Comeback): Html {
  const say = sayIn(page)

  return html`<section class="panel"><h2>${say`You can have your benefits back`}</h2><p>${say`${comeback.offername} was canceled. These benefits can start again:`}</p>
${benefitList(page, comeback.benefits)}
${coverageSection(page, comeback.benefits)}
${totalSection(page, comeback.benefits)}
${comeback.agreed && html`<p>${say`What you agreed to before holds again.`}</p>`}
${comeback.named && html`<p>${say`The beneficiaries you named before count again.`}</p>`}
<form method="post" action="${page.root}/comeback">${draftField(page)}<p>
<button class="primary">${say`Bring my benefits back`}</button></p></form></section>
<h2>${say`Or enroll anew`}</h2>`
}
