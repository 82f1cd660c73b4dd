import { createHash } from 'node:crypto'

/** One statement with its bound values; its name lets the database keep the plan. */
export type Query = {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

const prepared = new WeakMap<TemplateStringsArray, { name: string; text: string }>()

/**
 * A fragment of a statement, with the values bound in it. It is a class so that `sql` can tell it from every value that a
 * request could bring: only `fragment` makes one, and its text stands in the source.
 */
class Fragment {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}

export type { Fragment }

/** Writes a fragment, to be put into a statement or into another one as `${}`. Every other `${}` in it is a bound value. */
export function fragment(strings: TemplateStringsArray, ...values: unknown[]): Fragment {
  return new Fragment(strings, values)
}

/** The fragment that adds nothing. */
export const nothing = fragment``

/**
 * A fragment that is put together from literals and the values between them. Only for `columns.ts`: its literals are names and
 * types of columns, which stand in the source, too.
 */
export function fragmentOf(literals: readonly string[], values: readonly unknown[] = []): Fragment {
  return new Fragment(literals, values)
}

/** Builds a statement in which every `${}` is a bound value or a `fragment`; text never comes from a value. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Query {
  if (values.some(isPart)) return composed(new Fragment(strings, values))
  let statement = prepared.get(strings)
  if (!statement) {
    const text = strings.reduce((whole, part, index) => `${whole}$${index}${part}`)
    statement = { name: statementName(text), text }
    prepared.set(strings, statement)
  }
  return { name: statement.name, text: statement.text, values }
}

/** Texts that were composed before, by the literals that make them up, and each literal's number. */
const composedTexts = new Map<string, { name: string; text: string }>()
const numbers = new WeakMap<readonly string[], number>()
let lastNumber = 0

function numberOf(strings: readonly string[]): number {
  const known = numbers.get(strings)
  if (known !== undefined) return known
  lastNumber += 1
  numbers.set(strings, lastNumber)
  return lastNumber
}

function composed(whole: Fragment): Query {
  const values: unknown[] = []
  // The same literals in the same places make the same text, so it is put together only once.
  let key = ''
  const gather = ({ strings, values: own }: Fragment) => {
    key += `${numberOf(strings)} `
    for (const value of own) {
      if (isPart(value)) gather(value)
      else key += `$${values.push(value)} `
    }
  }
  gather(whole)
  let statement = composedTexts.get(key)
  if (!statement) {
    const text = textOf(whole, { bound: 0 })
    statement = { name: statementName(text), text }
    composedTexts.set(key, statement)
  }
  return { name: statement.name, text: statement.text, values }
}

function textOf({ strings, values }: Fragment, count: { bound: number }): string {
  return strings.reduce((text, next, index) => {
    const value = values[index - 1]
    if (isPart(value)) return `${text}${textOf(value, count)}${next}`
    count.bound += 1
    return `${text}$${count.bound}${next}`
  })
}

function isPart(value: unknown): value is Fragment {
  return value instanceof Fragment
}

function statementName(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 24)
}

/**
 * An instant as PostgreSQL takes it; null stays null. One outside the years 0001 to 9999, as "never" of some languages is after a
 * subtraction, is before all others, or after all.
 */
export function timestamp(instant: number | null | undefined): string | null {
  if (instant === null || instant === undefined) return null
  if (instant < FIRST_INSTANT) return '-infinity'
  if (instant > LAST_INSTANT) return 'infinity'
  // In a batch the same instant comes many times in a row.
  if (instant !== lastInstant) {
    lastText = new Date(instant).toISOString()
    lastInstant = instant
  }
  return lastText
}

let lastInstant = Number.NaN
let lastText = ''

const FIRST_INSTANT = Date.parse('0001-01-01T00:00:00.000Z')
const LAST_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

/**
 * The milliseconds of a timestamp as PostgreSQL writes it in our sessions, in ISO form and UTC, at a third of the cost of
 * `Date.parse`, which matters because each row of a user has three. Fractions of a millisecond are cut off; `infinity` is
 * NaN.
 */
export function readTimestamp(text: string): number {
  if (!isPlain(text)) return Date.parse(text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00'))
  const day = Date.UTC(digits(text, 0, 4), digits(text, 5, 7) - 1, digits(text, 8, 10))
  const seconds = digits(text, 11, 13) * 3600 + digits(text, 14, 16) * 60 + digits(text, 17, 19)
  return day + seconds * 1000 + (text.charCodeAt(19) === DOT ? milliseconds(text) : 0)
}

/** Whether the year has four digits, the first not a zero, and the zone is UTC. */
function isPlain(text: string): boolean {
  return (
    text.charCodeAt(4) === DASH &&
    text.charCodeAt(10) === SPACE &&
    text.charCodeAt(0) !== ZERO &&
    (text.length === 19 || text.endsWith('+00'))
  )
}

const DASH = 45
const DOT = 46
const SPACE = 32
const ZERO = 48

function digits(text: string, from: number, to: number): number {
  let value = 0
  for (let at = from; at < to; at += 1) value = value * 10 + text.charCodeAt(at) - ZERO
  return value
}

/** PostgreSQL leaves out zeros at the end. */
function milliseconds(text: string): number {
  let value = 0
  let weight = 100
  for (let at = 20; weight >= 1; at += 1, weight /= 10) {
    const digit = text.charCodeAt(at) - ZERO
    if (!(digit >= 0 && digit <= 9)) break
    value += digit * weight
  }
  return value
}
