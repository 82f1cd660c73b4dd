import { html } from '../../../http/html.ts'
import { consentFields } from '../../views/consents.ts'
import { coverageSection, priceSection } from '../../views/coverage.ts'
import { detailsShort } from '../../views/details.ts'
import { type Answers, form, primary, question } from '../../views/fields.ts'
import type { View } from '../../views/layout.ts'
import { benefitList } from '../../views/lists.ts'
import type { BenefitLine, ConsentText, Details } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'

/** What is about to be agreed to. */
type Agreed = {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** True where nothing is charged for the month in which the plan starts. */
  readonly isfirstfree?: boolean
  /** True when there was a choice, so that it can be changed. */
  readonly choosable: boolean
  /** True for a member, whose other benefits are not among these. */
  readonly isAddition?: boolean
  readonly consents: readonly ConsentText[]
}

/** All answers once more, the consents, and the button that enrols. */
export function checkView(answers: Answers, details: Details, agreed: Agreed): View {
  const { page } = answers
  const { benefits, consents, offername, choosable } = agreed
  const say = sayIn(page)

  return question('CHECK_ANSWERS', answers, {
    title: say`Check your answers`,
    back: choosable ? 'benefits' : 'details',
    body: html`<section><div class="heading"><h2>${say`Your details`}</h2><a
href="${page.root}/details">${say`Change`}<span class="unseen"> – ${say`Your details`}</span></a></div>
${detailsShort(page, details)}</section>
<section><div class="heading"><h2>${say`Your benefits`}</h2>${
      choosable &&
      html`<a
href="${page.root}/benefits">${say`Change`}<span class="unseen"> – ${say`Your benefits`}</span></a>`
    }</div>
<p>${say`Plan`}: <strong>${offername}</strong></p>
${benefitList(page, benefits)}</section>
${priceSection(page, benefits, agreed)}
${coverageSection(page, benefits)}
${form(answers, 'enrol', [consentFields(answers, consents), primary(say`Enroll now`)])}`,
  })
}
