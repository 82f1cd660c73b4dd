import { html } from '../../http/html.ts'
import { type Choice, form, oneOf, primary, question } from './fields.ts'
import { namesText, priceText } from './format.ts'
import { icon } from './icons.ts'
import type { Content } from './layout.ts'
import type { PlanView } from './model.ts'
import type { PlanChoice, PlanPart } from './parts.ts'
import { totalText } from './price.ts'
import type { Localized, Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** The plans from which a newcomer chooses one: what comes with each, and how much can be chosen. */
export function plan(view: PlanView): Content {
  const { page, plans, chosen } = view
  const texts = textsOf(page)
  const words = texts.plan
  return question(view, {
    title: words.title,
    back: 'details',
    body: html`<p class="lead">${words.lead}</p>
${form(view, 'plan', [
  oneOf(view, 'offername', {
    legend: html`<legend class="unseen">${words.title}</legend>`,
    chosen,
    choices: plans.map(choice => planChoice(page, choice)),
  }),
  primary(texts.shell.continue),
])}`,
  })
}

/** A plan to choose: its name and price, what it includes, and what else can be chosen. */
function planChoice(page: Page, plan: PlanChoice): Choice {
  const words = textsOf(page).coverage.plan
  const { offer, displayname, description, included, selectable, slots } = plan
  // Where all is to be chosen, so is the price.
  const isBare = included.length === 0 && slots > 0
  const price = totalText(
    page,
    included.map(({ cost }) => cost),
  )
  const more = namesText(
    page,
    selectable.map(part => nameAndPrice(page, part)),
  )
  return {
    value: offer,
    label: html`<strong>${displayname}</strong>${
      !isBare && html` <span class="worth">${price}</span>`
    }<span class="hint">${description}</span>`,
    card: html`${
      included.length > 0 &&
      html`<h2>${words.holds}</h2><ul class="ticks">${included.map(
        part =>
          html`<li>${icon('check')}<span><strong>${part.displayname}</strong> ${part.description}</span></li>`,
      )}</ul>`
    }
${slots > 0 && html`<h2>${words[isBare ? 'choose' : 'choosemore'](slots)}</h2><p>${more}.</p>`}`,
  }
}

/** A benefit's name, with its price if it has one. */
function nameAndPrice(
  page: Localized,
  { displayname, cost }: Pick<PlanPart, 'displayname' | 'cost'>,
): string {
  return cost.kind === 'nothing' ? displayname : `${displayname} (${priceText(page, cost)})`
}
