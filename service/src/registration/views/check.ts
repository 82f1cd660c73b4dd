import { html } from '../../http/html.ts'
import { namingSection } from './beneficiaries.ts'
import { consentFields } from './consent-fields.ts'
import { coverageSection, priceSection } from './coverage.ts'
import { detailsShort } from './details.ts'
import { form, primary, question } from './fields.ts'
import type { Content } from './layout.ts'
import { benefitList } from './lists.ts'
import type { CheckAnswersView } from './model.ts'
import { textsOf } from './texts.ts'

/** All answers once more, the consents, and the button that enrols. */
export function checkAnswers(view: CheckAnswersView): Content {
  const { page, details, benefits, consents, offername, choosable } = view
  const texts = textsOf(page)
  const words = texts.check
  return question(view, {
    title: words.title,
    back: choosable ? 'benefits' : 'details',
    body: html`<section><div class="heading"><h2>${words.details}</h2><a href="${page.root}/details">${texts.shell.change}<span class="unseen"> – ${words.details}</span></a></div>
${detailsShort(page, details)}</section>
<section><div class="heading"><h2>${texts.already.title}</h2>${
      choosable &&
      html`<a href="${page.root}/benefits">${texts.shell.change}<span class="unseen"> – ${texts.already.title}</span></a>`
    }</div>
<p>${words.plan}: <strong>${offername}</strong></p>
${benefitList(page, benefits)}</section>
${priceSection(page, benefits, view.isAddition)}
${coverageSection(page, benefits)}
${namingSection(page, view.naming)}
${form(view, 'enrol', [consentFields(view, consents), primary(words.button)])}`,
  })
}
