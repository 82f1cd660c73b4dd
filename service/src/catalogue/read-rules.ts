import { states } from '@benefit-enrolment/contract/names'
import type { Cursor } from './cursor.ts'
import { AVAILABILITY_CODES } from './eligibility.ts'
import { MAX_OFFERS } from './limits.ts'
import type { AgeRule, OfferRule, OffersRule, Rule, StatesRule, ZipsRule } from './model.ts'
import { type Mention, readBilingual, readNames, refuseRepeated } from './read-values.ts'

/** The highest age that a person is taken to reach. */
export const MAX_AGE = 120

const MAX_RULES = 50
const MAX_ZIPS = 10_000
const STATES: ReadonlySet<string> = new Set(states)
const OFFER_RULE_KINDS = ['age', 'states', 'zips'] as const
const RULE_KINDS = [...OFFER_RULE_KINDS, 'offers'] as const

/** The rules of a benefit; the offers that they name are added to `mentions`. */
export function readBenefitRules(at: Cursor | undefined, mentions: Mention[]): Rule[] {
  return readRules(at, RULE_KINDS, mentions)
}

/** The rules of an offer, which has no rule of the kind `offers`. */
export function readOfferRules(at: Cursor | undefined): OfferRule[] {
  return readRules(at, OFFER_RULE_KINDS, []).filter(rule => rule.kind !== 'offers')
}

function readRules(at: Cursor | undefined, kinds: readonly Rule['kind'][], mentions: Mention[]): Rule[] {
  const codes: Mention[] = []
  const rules = (at?.items(MAX_RULES) ?? []).flatMap(item => {
    const fields = item.fields(RULE_HEAD, kinds)
    const code = readCode(fields.code)
    codes.push({ at: fields.code, name: code })
    const text = readBilingual(fields.text, 300)
    const written = kinds.filter(kind => fields[kind] !== undefined)
    if (written.length === 0) item.refuse(`has no condition; add one of ${kinds.join(', ')}`)
    if (written.length > 1) item.refuse(`has ${written.join(' and ')}; make a rule of its own of each`)
    return written.flatMap(kind => {
      const condition = fields[kind]
      return condition === undefined ? [] : [{ code, text, ...READERS[kind](condition, mentions) }]
    })
  })
  refuseRepeated(codes)
  return rules
}

type Condition<R> = R extends Rule ? Omit<R, 'code' | 'text'> : never

const RULE_HEAD = {
  code: 'a code such as age_18_64',
  text: 'the text that a refused person reads, in en and es',
}

const READERS: Record<Rule['kind'], (at: Cursor, mentions: Mention[]) => Condition<Rule>> = {
  age: readAge,
  states: readStates,
  zips: readZips,
  offers: readOffers,
}

function readCode(at: Cursor): string {
  const code = at.textThat(
    isCode,
    'is not a rule code; use up to 64 lower-case letters, digits and _, such as not_in_ny',
  )
  if (Object.values<string>(AVAILABILITY_CODES).includes(code))
    at.refuse(`"${code}" is a code of the service itself; choose another`)
  return code
}

function isCode(text: string): boolean {
  return /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/.test(text) && text.length <= 64
}

function readAge(at: Cursor): Condition<AgeRule> {
  const fields = at.fields({}, ['min', 'max'])
  const min = fields.min?.integer(0, MAX_AGE)
  const max = fields.max?.integer(0, MAX_AGE)
  if (!fields.min && !fields.max) at.refuse('admits every age; add min, max or both')
  if (min !== undefined && max !== undefined && min > max)
    at.refuse(`min ${min} is above max ${max}, so that nobody is admitted; exchange the two`)
  return { kind: 'age', ...(min !== undefined && { min }), ...(max !== undefined && { max }) }
}

function readStates(at: Cursor): Condition<StatesRule> {
  return { kind: 'states', ...readStateLists(at) }
}

/** States by their codes, either those in a list or all but those; just one of the two is taken. */
export function readStateLists(at: Cursor): Pick<StatesRule, 'in' | 'notin'> {
  const fields = at.fields({}, ['in', 'notin'])
  if (fields.in && fields.notin) at.refuse('has both in and notin; keep one of the two')
  if (!fields.in && !fields.notin) at.refuse('names no state; add in or notin with a list of state codes')
  const remedy = 'is not a USPS state code; use two capital letters such as NY'
  const read = (list: Cursor) =>
    readCodes(list, STATES.size, at => at.textThat(text => STATES.has(text), remedy))
  return {
    ...(fields.in && { in: read(fields.in) }),
    ...(fields.notin && { notin: read(fields.notin) }),
  }
}

function readZips(at: Cursor): Condition<ZipsRule> {
  const fields = at.fields({}, ['in', 'prefixes', 'notin', 'notprefixes'])
  if (!fields.in && !fields.prefixes && !fields.notin && !fields.notprefixes)
    at.refuse('names no ZIP code; add in, prefixes, notin or notprefixes with a list')
  return {
    kind: 'zips',
    ...(fields.in && { in: readCodes(fields.in, MAX_ZIPS, readZip) }),
    ...(fields.prefixes && { prefixes: readCodes(fields.prefixes, MAX_ZIPS, readPrefix) }),
    ...(fields.notin && { notin: readCodes(fields.notin, MAX_ZIPS, readZip) }),
    ...(fields.notprefixes && { notprefixes: readCodes(fields.notprefixes, MAX_ZIPS, readPrefix) }),
  }
}

function readZip(at: Cursor): string {
  return at.textThat(
    text => /^\d{5}$/.test(text),
    'is not a ZIP code; write 5 digits in quotes, such as "33101"',
  )
}

function readPrefix(at: Cursor): string {
  return at.textThat(
    text => /^\d{1,4}$/.test(text),
    'is not a ZIP prefix; write 1 to 4 digits in quotes, such as "331"',
  )
}

function readOffers(at: Cursor, mentions: Mention[]): Condition<OffersRule> {
  const fields = at.fields({ in: 'a list of offers' })
  const named = readNames(fields.in, MAX_OFFERS)
  if (fields.in.isEmpty) fields.in.refuse('is empty, so that nobody is admitted; name an offer')
  mentions.push(...named)
  return { kind: 'offers', in: named.map(mention => mention.name) }
}

/** The codes of a list in alphabetical order; an empty list and a repeated code are refused. */
function readCodes(at: Cursor, max: number, read: (at: Cursor) => string): string[] {
  if (at.isEmpty) at.refuse('is an empty list; name at least one, or delete the key')
  const mentions = at.items(max).map(item => ({ at: item, name: read(item) }))
  refuseRepeated(mentions)
  return mentions.map(mention => mention.name).sort()
}
