import { priceText } from './format.ts'
import type { BenefitLine, Cost } from './parts.ts'
import { sayIn } from './say.ts'
import type { Localized } from './surroundings.ts'

/** The order in which sums are listed by time span; the page's script uses the same order. */
const SPANS = ['month', 'week', 'once'] as const

/** A sum of prices with the same time span that are collected in the same way. */
type PriceGroup = Extract<Cost, { kind: 'amount' }>

/**
 * What these benefits cost together, in whole sentences: first the sum for each time span if it is collected in several
 * ways, then each way. One word when all are free.
 */
export function priceLines(page: Localized, costs: readonly Cost[]): readonly string[] {
  const say = sayIn(page)

  const groups = groupsOf(costs)
  if (groups.length === 0) return [say`Free`]
  const lines = groups.map(group => `${sentenceOf(page, group)}.`)
  return groups.length === 1 ? lines : [`${say`You pay ${totalText(page, costs)}`}.`, ...lines]
}

/**
 * The total for a person, in whole sentences. Benefits that a pending change takes away do not count, because nobody
 * pays for them and their replacements at the same time; if a change is planned, the last sentence says that the total
 * is the one after it.
 */
export function totalLines(page: Localized, lines: readonly BenefitLine[]): readonly string[] {
  const say = sayIn(page)
  const costs = lines.flatMap(({ pending, cost }) => (cost && pending !== 'goes' ? [cost] : []))
  const isPending = lines.some(({ pending }) => pending !== undefined)
  const pending = isPending
    ? [say`This is what you pay once the changes that you have planned have taken effect.`]
    : []
  return [...priceLines(page, costs), ...waitingPrice(page, lines), ...pending]
}

/** Says of a sum that it contains the price of what has not begun and waits for the person: nobody pays for that yet. */
export function waitingPrice(page: Localized, lines: readonly BenefitLine[]): readonly string[] {
  const say = sayIn(page)
  const isPriced = lines.some(
    ({ waits, actionrequired, cost, pending }) =>
      (waits || actionrequired) && cost?.kind === 'amount' && pending !== 'goes',
  )
  return isPriced
    ? [say`This includes benefits that still wait for something from you and have not started.`]
    : []
}

/** What these benefits cost together, such as `$19.00 a month`; one word when all are free. */
export function totalText(page: Localized, costs: readonly Cost[]): string {
  const say = sayIn(page)

  const sums = groupsOf(costs.map(cost => (cost.kind === 'amount' ? withoutTaken(cost) : cost)))
  const inOrder = SPANS.flatMap(span => sums.filter(({ per }) => per === span))
  return (
    inOrder.map(sum => priceText(page, sum)).reduce((all, one) => (all ? say`${all} and ${one}` : one), '') ||
    say`Free`
  )
}

function sentenceOf(page: Localized, group: PriceGroup): string {
  const say = sayIn(page)

  const price = priceText(page, group)
  return group.taken
    ? say`You pay ${price}, taken ${group.taken.how} by ${group.taken.by}`
    : say`You pay ${price}`
}

function groupsOf(costs: readonly Cost[]): readonly PriceGroup[] {
  const groups = new Map<string, PriceGroup>()
  for (const cost of costs) {
    if (cost.kind === 'nothing') continue
    const key = JSON.stringify([cost.per, cost.currency, cost.taken?.by, cost.taken?.how])
    const cents = Math.round((groups.get(key)?.amount ?? 0) * 100) + Math.round(cost.amount * 100)
    groups.set(key, { ...cost, amount: cents / 100 })
  }
  return [...groups.values()]
}

function withoutTaken({ taken: _, ...cost }: PriceGroup): PriceGroup {
  return cost
}
