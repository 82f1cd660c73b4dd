import { type Html, html } from '../../http/html.ts'
import { form, oneOf, question } from './fields.ts'
import { dayText, namesText } from './format.ts'
import type { Content } from './layout.ts'
import { benefitList } from './lists.ts'
import type { CancelView } from './model.ts'
import { leavingNotice } from './standing.ts'
import { textsOf } from './texts.ts'

/** What a cancel ends, and when. A pending cancel can be undone here, or be made to take effect at once. */
export function cancel(view: CancelView): Content {
  const { page, benefits, notbegun = [], pending, reinstatedays, hasbegun } = view
  const texts = textsOf(page)
  const words = texts.cancel
  const standing = texts.standing
  const { now, keep } = standing.leaving
  const title = pending ? now.title : words.title
  const lead = pending ? now.lead(dayText(page, pending.on)) : hasbegun ? words.lead : words.neverbegun
  return question(view, {
    title,
    back: 'overview',
    body: html`${pending && leavingNotice(page, pending.on, 'all')}
${(benefits.length > 0 || !hasbegun) && html`<p class="lead">${lead}</p>`}
${benefits.length > 0 && benefitList(page, benefits)}
${notbegun.length > 0 && html`<p>${standing.notbegun(namesText(page, notbegun))}</p>`}
${form(view, 'cancel', [
  hasbegun && !pending ? timeChoice(view) : html`<input type="hidden" name="effective" value="immediate">`,
  html`${view.hasplanned && html`<p>${words.planned}</p>`}
<p>${
    reinstatedays === undefined
      ? standing.noreturn
      : hasbegun
        ? words.reinstate(reinstatedays)
        : standing.backbeforestart(reinstatedays)
  }</p>
<p class="actions"><button class="danger">${pending ? now.button : words.button}</button>${
    !pending && html`<a class="secondary" href="${page.root}/overview">${keep}</a>`
  }</p>`,
])}`,
  })
}

/** One question: when the benefits end. */
function timeChoice(view: CancelView): Html {
  const { page, lastday, effective } = view
  const words = textsOf(page).cancel
  return oneOf(view, 'effective', {
    legend: html`<legend><h2>${words.when}</h2></legend>`,
    chosen: effective,
    choices: [
      { value: 'endofperiod', label: words.endofperiod(dayText(page, lastday)) },
      { value: 'immediate', label: words.immediate },
    ],
  })
}
