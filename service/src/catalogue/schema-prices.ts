import { PRICE_SPANS, PRICE_TAKERS } from './model.ts'
import { bilingual, group, oneOf, type SchemaNode, whole } from './schema-parts.ts'

/** The most cents of an amount or a price. */
export const MAX_CENTS = 1_000_000_000

/** Cents per month or week; `what` says whose. */
export function rate(what: string): SchemaNode {
  return group({
    cents: [`${what}, in cents`, whole(0, MAX_CENTS)],
    per: ['per: month or per: week', oneOf(PRICE_SPANS)],
  })
}

/** What a benefit costs its holder. */
export function cost(): SchemaNode {
  const taken = group({
    by: [`who takes the price, one of ${PRICE_TAKERS.join(', ')}`, oneOf(PRICE_TAKERS)],
    how: ['how it is taken, in en and es, such as "from your weekly payout"', bilingual(120)],
  })
  return group(
    {
      cents: ['the cost in cents; 0 = nothing', whole(0, MAX_CENTS)],
      per: ['per: month', oneOf(PRICE_SPANS)],
    },
    { taken },
  )
}
