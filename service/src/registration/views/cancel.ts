import { html } from '../../http/html.ts'
import { draftField, errorSummary, fault, form, radio } from './fields.ts'
import { dayText, namesText } from './format.ts'
import { type Content, notice } from './layout.ts'
import { benefitList } from './lists.ts'
import type { CancelView } from './model.ts'
import type { Texts } from './texts.ts'
import { standingTexts } from './texts-standing.ts'

/** What ends with a cancel and when; a pending one can be taken back here. */
export function cancel(view: CancelView, texts: Texts): Content {
  const { page, benefits, notbegun = [], lastday, effective, pending, reinstatedays } = view
  const words = texts.cancel
  const answers = { page, texts, errors: view.errors ?? [], kept: {} }
  const error = answers.errors.find(({ input }) => input === 'effective')
  return {
    title: words.title,
    asks: true,
    faulty: answers.errors.length > 0,
    back: `${page.root}/overview`,
    body: html`${errorSummary(answers)}
<h1 tabindex="-1">${words.title}</h1>
${
  pending && [
    notice(words.pending(dayText(page.locale, pending.on)), words.pendingtext),
    html`<form method="post" action="${page.root}/cancel/undo">${draftField(page)}<p><button class="primary">${words.keepall}</button></p></form>`,
  ]
}
${(benefits.length > 0 || !view.hasbegun) && html`<p class="lead">${view.hasbegun ? words.lead : words.neverbegun}</p>`}
${benefits.length > 0 && benefitList(page, texts, benefits)}
${notbegun.length > 0 && html`<p>${standingTexts(page.locale).notbegun(namesText(page, notbegun))}</p>`}
${form(answers, 'cancel', [
  !view.hasbegun && html`<input type="hidden" name="effective" value="immediate">`,
  view.hasbegun &&
    html`<fieldset class="field${error && ' wrong'}"${error && html` aria-describedby="effective-error"`}>
<legend><h2>${words.when}</h2></legend>
${error && fault('effective', texts, error)}
${
  !pending &&
  radio('effective', 'endofperiod', {
    id: 'effective',
    label: words.endofperiod(dayText(page.locale, lastday)),
    checked: effective === 'endofperiod',
  })
}
${radio('effective', 'immediate', {
  id: pending ? 'effective' : 'effective-immediate',
  label: words.immediate,
  checked: effective === 'immediate',
})}
</fieldset>`,
  html`${view.hasplanned && html`<p>${words.planned}</p>`}
<p>${words.reinstate(reinstatedays)}</p>
<p class="actions"><button class="danger">${words.button}</button>${!pending && html`<a class="secondary" href="${page.root}/overview">${words.keepall}</a>`}</p>`,
])}`,
  }
}
