import { type Fact, keyOf } from './facts.ts'

/**
 * The differences between two releases. Breaking are an offer that is gone, a new demand on something that existed before, a
 * tighter limit, and a limit on a field that had none. All other differences only add. Limits are recognized by the words in
 * which `facts.ts` writes them, so a change of these words has to be made here, too.
 */
export function compareFacts(
  before: readonly Fact[],
  after: readonly Fact[],
): { fact: Fact; breaks: boolean }[] {
  const old = new Set(before.map(keyOf))
  const now = new Set(after.map(keyOf))
  const known = new Set(before.map(({ name }) => name))
  const limits = new Map(before.filter(({ kind }) => kind === 'limit').map(fact => [stemOf(fact), fact]))
  const gone = before.filter(fact => !now.has(keyOf(fact)))
  const added = after.filter(fact => !old.has(keyOf(fact)))
  const isStricter = (fact: Fact): boolean => {
    if (fact.kind === 'demand') return known.has(fact.name)
    if (fact.kind !== 'limit') return false
    const former = limits.get(stemOf(fact))
    return former ? isTighter(fact, former) : before.some(one => isOfField(one, fact))
  }
  return [
    ...gone.map(fact => ({ fact, breaks: fact.kind === 'offer' })),
    ...added.map(fact => ({ fact, breaks: isStricter(fact) })),
  ]
}

/** A limit without its number or form, by which it is found in another release. */
function stemOf(fact: Fact): string {
  return keyOf(fact).replace(numberOfLimit, '$1').replace(formOfLimit, '$1')
}

/** Whether a statement says that the field of a limit exists: a limit on a new field breaks nobody. */
function isOfField(one: Fact, limit: Fact): boolean {
  const field = limit.text.replace(/\.? (has at|must look like|must be a) .*$/, '')
  return one.name === limit.name && (one.text.startsWith(`has ${field} of `) || one.text === `takes ${field}`)
}

const numberOfLimit = /\b(at (?:most|least)) (-?\d+)/

const formOfLimit = /( must (?:look like|be a)) .*$/

function isTighter(limit: Fact, former: Fact): boolean {
  if (formOfLimit.test(limit.text)) return true
  const [now, then] = [limit, former].map(({ text }) => Number(numberOfLimit.exec(text)?.[2]))
  const difference = (now ?? 0) - (then ?? 0)
  return limit.text.includes('at most') ? difference < 0 : difference > 0
}
