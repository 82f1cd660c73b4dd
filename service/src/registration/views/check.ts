import { html } from '../../http/html.ts'
import { namingSection } from './beneficiaries.ts'
import { coverageSection, priceSection } from './coverage.ts'
import { detailsGroups, detailsList } from './details.ts'
import { consentFields, form, primary, question } from './fields.ts'
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
    body: html`<p class="lead">${words.lead}</p>
<section><h2>${words.details}</h2>${detailsList(page, details, detailsGroups)}</section>
<section><div class="heading"><h2>${texts.start.title}</h2>${choosable && html`<a href="${page.root}/benefits">${texts.shell.change}<span class="unseen"> – ${texts.start.title}</span></a>`}</div>
<p>${words.plan}: <strong>${offername}</strong></p>
${benefitList(page, benefits)}</section>
${priceSection(page, benefits, view.isAddition)}
${coverageSection(page, benefits)}
${namingSection(page, view.naming)}
${form(view, 'enrol', [consentFields(view, consents), primary(words.button)])}`,
  })
}
