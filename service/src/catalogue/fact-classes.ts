import type { Facts } from './eligibility.ts'
import type { Catalogue, Rule } from './model.ts'

/** Returns the name of the class to which a person's facts belong. */
type FactClasses = (facts: Omit<Facts, 'offer'>) => string

const known = new WeakMap<Catalogue, FactClasses>()

/**
 * Divides people into classes such that no rule of the catalogue distinguishes two people of one class: a verdict for
 * one of them holds for all. Without classes nothing could be shared, because almost every person has a combination of
 * age, state and ZIP code of their own.
 */
export function factClassesOf(catalogue: Catalogue): FactClasses {
  const made = known.get(catalogue) ?? openClasses(catalogue)
  known.set(catalogue, made)
  return made
}

function openClasses({ benefits, offers }: Catalogue): FactClasses {
  const rules: Rule[] = [...benefits.values(), ...offers.values()].flatMap(one => one.rules)
  /** The ages at which a rule decides differently than a year before. */
  const turns = rules.flatMap(rule =>
    rule.kind === 'age' ? [rule.min ?? 0, (rule.max ?? Number.POSITIVE_INFINITY) + 1] : [],
  )
  const asksState = rules.some(({ kind }) => kind === 'states')
  const asksZip = rules.some(({ kind }) => kind === 'zips')
  return ({ age, state, zipcode }) => {
    const passed = turns.filter(turn => age >= turn).length
    return `${passed} ${asksState ? state : ''} ${asksZip ? zipcode.slice(0, 5) : ''}`
  }
}
