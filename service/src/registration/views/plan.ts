import { html } from '../../http/html.ts'
import { errorSummary, fault, form, inputId, primary, radio } from './fields.ts'
import type { Content } from './layout.ts'
import type { PlanView } from './model.ts'
import type { PlanChoice } from './parts.ts'
import type { Locale } from './surroundings.ts'
import type { Texts } from './texts.ts'

/** The plans of which a newcomer takes one: what comes with each, and how much can be chosen. */
export function plan(view: PlanView, texts: Texts): Content {
  const { page, plans, chosen } = view
  const words = texts.plan
  const answers = { page, texts, errors: view.errors ?? [], kept: {} }
  const error = answers.errors.find(({ input }) => input === 'offername')
  return {
    title: words.title,
    asks: true,
    faulty: answers.errors.length > 0,
    back: `${page.root}/details`,
    body: html`${errorSummary(answers)}
<h1 tabindex="-1">${words.title}</h1>
<p class="lead">${words.lead}</p>
${form(answers, 'plan', [
  html`<fieldset class="field${error && ' wrong'}"${error && html` aria-describedby="offername-error"`}>
<legend class="unseen">${words.title}</legend>
${error && fault('offername', texts, error)}
${plans.map((choice, at) =>
  radio('offername', choice.offer, {
    id: at === 0 ? 'offername' : inputId(`offername-${choice.offer}`),
    label: html`<strong>${choice.displayname}</strong><span class="hint">${choiceText(choice, texts, page.locale)}</span>`,
    checked: choice.offer === chosen,
  }),
)}
</fieldset>`,
  primary(texts.shell.continue),
])}`,
  }
}

function choiceText(choice: PlanChoice, texts: Texts, locale: Locale): string {
  const words = texts.plan
  const names = new Intl.ListFormat(locale, { type: 'conjunction' }).format(choice.included)
  return [choice.included.length > 0 && words.included(names), choice.slots > 0 && words.slots(choice.slots)]
    .filter(part => part)
    .join(' ')
}
