import { html, type Slot } from '../../http/html.ts'
import { isInForce } from '../../membership/rules/state.ts'
import { heldTerms } from '../../membership/rules/terms.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { benefitName } from '../views/moves.ts'

/** What the person pays for the benefits in force today: the sum for each time span, then each price; empty if none is in force. */
export function paysView(details: UserDetails): Slot {
  const { user, terms } = details
  const inForce = user.enrolments.filter(isInForce)
  if (inForce.length === 0) return ''
  const prices = inForce.flatMap(one => {
    const cost = heldTerms(terms, one)?.cost
    return cost && cost.cents > 0 ? [{ cost, name: benefitName(details, one.benefit) }] : []
  })
  if (prices.length === 0) return html`<p>Pays nothing for these.</p>`
  const sums = new Map<string, number>()
  for (const { cost } of prices) sums.set(cost.per, (sums.get(cost.per) ?? 0) + cost.cents)
  return html`<p>Pays ${[...sums].map(([per, cents]) => `${money(cents)} a ${per}`).join(' and ')}:</p>
<ul class="rules">${prices.map(
    ({ name, cost }) => html`<li>${name}:
${money(cost.cents)} a ${cost.per}${cost.taken && `, ${cost.taken.how.en}`}</li>`,
  )}</ul>`
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })

function money(cents: number): string {
  return dollars.format(cents / 100)
}
