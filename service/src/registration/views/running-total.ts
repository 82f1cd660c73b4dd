import { html, type Slot } from '../../http/html.ts'
import type { BenefitCard, Cost } from './parts.ts'
import { totalText } from './price.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** The data at a box with which the page's script adds up prices: cents and time span. */
export function priceData(cost: Cost): Slot {
  return cost.kind === 'amount' && html` data-cents="${Math.round(cost.amount * 100)}" data-per="${cost.per}"`
}

/**
 * The total cost of the chosen benefits, as of the loaded form; a script updates it with each choice. Where no script runs,
 * the style sheet hides it and the count of choices, which would be false after the first choice, and shows that the next
 * view has the total. With `isAddition` it is called the cost of what is added, because a member already pays for other
 * benefits.
 */
export function runningTotal(
  page: Page,
  { included, chosen }: { included: readonly BenefitCard[]; chosen: readonly BenefitCard[] },
  isAddition: boolean,
): Slot {
  const words = textsOf(page).coverage.price
  const costs = (cards: readonly BenefitCard[]) => cards.map(({ cost }) => cost)
  const base = { week: 0, month: 0, once: 0 }
  for (const cost of costs(included))
    if (cost.kind === 'amount') base[cost.per] += Math.round(cost.amount * 100)
  return html`<p class="total" data-total data-week="${base.week}" data-month="${base.month}" data-once="${base.once}" data-weekly="${words.week('0')}" data-monthly="${words.month('0')}" data-single="${words.once('0')}" data-and="${words.and('', '')}" data-free="${words.free}">${
    isAddition ? words.addedsofar : words.totalsofar
  }: <strong>${totalText(page, costs([...included, ...chosen]))}</strong></p><p class="unscripted">${
    isAddition ? words.addednext : words.totalnext
  }</p>`
}
