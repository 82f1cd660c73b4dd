import type { PlainDate } from '../calendar/calendar.ts'
import type { AgeRule, Benefit, Bilingual, Offer, OffersRule, Rule, StatesRule, ZipsRule } from './model.ts'

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

/** The decision of one rule, for support. `why` repeats no personal data. */
export type RuleResult = {
  readonly code: string
  readonly kind: Rule['kind'] | 'availability'
  readonly passed: boolean
  readonly why: string
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

type Decision = { readonly reason: Reason; readonly result: RuleResult }
type Answer = { readonly passed: boolean; readonly why: string }

function verdictOf(decisions: readonly Decision[]): Verdict {
  const reasons = decisions.filter(({ result }) => !result.passed).map(({ reason }) => reason)
  return { admitted: reasons.length === 0, reasons, trace: decisions.map(({ result }) => result) }
}

function judgeRule(rule: Rule, facts: Facts): Decision {
  const { code, kind, text } = rule
  return { reason: { code, text }, result: { code, kind, ...answer(rule, facts) } }
}

function answer(rule: Rule, facts: Facts): Answer {
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

function judgeAge({ min, max }: AgeRule, age: number): Answer {
  if (min !== undefined && age < min) return { passed: false, why: `below the youngest age admitted, ${min}` }
  if (max !== undefined && age > max) return { passed: false, why: `above the oldest age admitted, ${max}` }
  return { passed: true, why: `within the ages admitted, ${min ?? 0} to ${max ?? 'any'}` }
}

function judgeState(rule: StatesRule, state: string): Answer {
  if (rule.in && !rule.in.includes(state))
    return { passed: false, why: `not one of the states ${rule.in.join(', ')}` }
  if (rule.notin?.includes(state))
    return { passed: false, why: `one of the states left out, ${rule.notin.join(', ')}` }
  return { passed: true, why: 'a state that is admitted' }
}

function judgeZip(rule: ZipsRule, zipcode: string): Answer {
  const zip = zipcode.slice(0, 5)
  const begins = (prefix: string) => zip.startsWith(prefix)
  const isWanted = rule.in === undefined && rule.prefixes === undefined
  if (!isWanted && !rule.in?.includes(zip) && !rule.prefixes?.some(begins))
    return { passed: false, why: 'neither a ZIP code nor a ZIP prefix of those admitted' }
  if (rule.notin?.includes(zip)) return { passed: false, why: 'a ZIP code that is left out' }
  if (rule.notprefixes?.some(begins)) return { passed: false, why: 'a ZIP prefix that is left out' }
  return { passed: true, why: 'a ZIP code that is admitted' }
}

/** Without an offer the rule fails: a benefit for the holders of certain offers is not for people without an offer. */
function judgeOfferName(rule: OffersRule, offer: string | undefined): Answer {
  const wanted = rule.in.join(', ')
  if (offer === undefined) return { passed: false, why: `no offer, and only ${wanted} admitted` }
  return rule.in.includes(offer)
    ? { passed: true, why: `the offer ${offer} is one of ${wanted}` }
    : { passed: false, why: `the offer ${offer} is not one of ${wanted}` }
}

function judgeAvailability({ availability }: Offer, date: PlainDate): Decision[] {
  const { from, until } = availability ?? {}
  if (from === undefined && until === undefined) return []
  const isEarly = from !== undefined && date < from
  const isLate = until !== undefined && date > until
  const reason = isLate ? TOO_LATE : TOO_EARLY
  const why = `open to newcomers from ${from ?? 'any date'} until ${until ?? 'any date'}`
  return [{ reason, result: { code: reason.code, kind: 'availability', passed: !isEarly && !isLate, why } }]
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
