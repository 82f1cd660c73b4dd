import type { PlainDate } from '../calendar/calendar.ts'
import type { Benefit, Bilingual, Catalogue, Offer, Rule, RuleOf } from './model.ts'

/** The reason codes of an offer outside its availability; no rule may use them. */
export const AVAILABILITY_CODES = { early: 'not_yet_available', late: 'no_longer_available' } as const

/**
 * The data that rules use. `age` is the age on the effective date; `offer` is the present offer, or the one about to be
 * taken.
 */
export type Facts = {
  readonly age: number
  readonly state: string
  readonly zipcode: string
  readonly offer?: string
}

/** A reason of a refusal: the code and text of the rule. */
export type Reason = { readonly code: string; readonly text: Bilingual }

/**
 * The decision of one rule, for support: with the text that a person reads, in short what a failed one says of the person, and
 * what the rule needs. It repeats neither age nor address.
 */
export type RuleResult = Reason & {
  readonly kind: Rule['kind'] | 'availability'
  readonly passed: boolean
  readonly short: string
  readonly needs: string
}

/** The decision about one person: admitted when every rule passed; `reasons` are those of the rules that did not. */
export type Verdict = {
  readonly admitted: boolean
  readonly reasons: readonly Reason[]
  readonly trace: readonly RuleResult[]
}

/** Whether a person may newly take a benefit. Every rule is decided, even after one has failed. */
export function judgeBenefit(benefit: Benefit, facts: Facts): Verdict {
  return verdictOf(benefit.rules.map(rule => judgeRule(rule, facts)))
}

/** Whether a newcomer may take an offer on `date`: its availability, then every rule. */
export function judgeOffer(offer: Offer, facts: Facts, date: PlainDate): Verdict {
  return verdictOf([...judgeAvailability(offer, date), ...offer.rules.map(rule => judgeRule(rule, facts))])
}

/**
 * Whether a person may stay on an offer. Only its rules decide, because an offer that is closed to newcomers stays with
 * its holders.
 */
export function judgeHeldOffer(offer: Offer, facts: Facts): Verdict {
  return verdictOf(offer.rules.map(rule => judgeRule(rule, facts)))
}

function verdictOf(trace: readonly RuleResult[]): Verdict {
  const reasons = trace.filter(({ passed }) => !passed).map(({ code, text }) => ({ code, text }))
  return { admitted: reasons.length === 0, reasons, trace }
}

function judgeRule(rule: Rule, facts: Facts): RuleResult {
  const { code, kind, text } = rule
  return { code, text, kind, ...decisionOf(rule, facts) }
}

type Decision = Pick<RuleResult, 'passed' | 'short' | 'needs'>

function decisionOf(rule: Rule, facts: Facts): Decision {
  switch (rule.kind) {
    case 'age':
      return judgeAge(rule, facts.age)
    case 'states':
      return judgeState(rule, facts.state)
    case 'zips':
      return judgeZip(rule, facts.zipcode)
    case 'offers':
      return judgeOfferName(rule, facts.offer)
  }
}

function judgeAge({ min, max }: RuleOf<'age'>, age: number): Decision {
  const ages = min === undefined ? `at most ${max}` : max === undefined ? `at least ${min}` : `${min}–${max}`
  const isYoung = age < (min ?? 0)
  return {
    passed: !isYoung && age <= (max ?? age),
    short: isYoung ? 'Too young' : 'Too old',
    needs: `needs age ${ages}`,
  }
}

function judgeState(rule: RuleOf<'states'>, state: string): Decision {
  const short = 'Not in this state'
  return rule.in
    ? { passed: rule.in.includes(state), short, needs: `only in ${rule.in.join(', ')}` }
    : { passed: !rule.notin?.includes(state), short, needs: `not in ${rule.notin?.join(', ')}` }
}

function judgeZip(rule: RuleOf<'zips'>, zipcode: string): Decision {
  const short = 'Not at this ZIP code'
  const zip = zipcode.slice(0, 5)
  const begins = (prefix: string) => zip.startsWith(prefix)
  const isWanted = rule.in === undefined && rule.prefixes === undefined
  if (!isWanted && !rule.in?.includes(zip) && !rule.prefixes?.some(begins))
    return { passed: false, short, needs: 'only in some ZIP codes' }
  const isLeftOut = rule.notin?.includes(zip) || rule.notprefixes?.some(begins)
  return { passed: !isLeftOut, short, needs: 'not in some ZIP codes' }
}

/** Without an offer the rule fails: a benefit for the holders of certain offers is not for people without an offer. */
function judgeOfferName(rule: RuleOf<'offers'>, offer: string | undefined): Decision {
  const passed = offer !== undefined && rule.in.includes(offer)
  return { passed, short: 'Not with this offer', needs: 'only with some offers' }
}

function judgeAvailability({ availability }: Offer, date: PlainDate): RuleResult[] {
  const { from, until } = availability ?? {}
  if (from === undefined && until === undefined) return []
  const isEarly = from !== undefined && date < from
  const isLate = until !== undefined && date > until
  const needs = `open from ${from ?? 'any date'} to ${until ?? 'any date'}`
  const reason = isLate ? TOO_LATE : TOO_EARLY
  return [{ ...reason, kind: 'availability', passed: !isEarly && !isLate, short: 'Not open now', needs }]
}

const TOO_EARLY: Reason = {
  code: AVAILABILITY_CODES.early,
  text: { en: 'This offer is not open yet.', es: 'Esta oferta aún no está disponible.' },
}
const TOO_LATE: Reason = {
  code: AVAILABILITY_CODES.late,
  text: {
    en: 'This offer is no longer open to new members.',
    es: 'Esta oferta ya no admite nuevos miembros.',
  },
}

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
