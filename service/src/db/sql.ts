import { createHash } from 'node:crypto'

/** One statement with its bound values; its name lets the database keep the plan. */
export type Query = {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
  /** It is about tables that a cluster has at its coordinator alone. */
  readonly isAtCoordinator?: true
}

const prepared = new WeakMap<TemplateStringsArray, { name: string; text: string }>()

/**
 * A part of a statement, with the values bound in it. It is a class so that `sql` can tell it from every value that a
 * request could bring: only `part` makes one, and its text stands in the source.
 */
class Part {
  readonly strings: readonly string[]
  readonly values: readonly unknown[]
  constructor(strings: readonly string[], values: readonly unknown[]) {
    this.strings = strings
    this.values = values
  }
}

export type { Part }

/** Writes a part, to be put into a statement or into another part as `${}`. Every other `${}` in it is a bound value. */
export function part(strings: TemplateStringsArray, ...values: unknown[]): Part {
  return new Part(strings, values)
}

/** The part that adds nothing. */
export const nothing = part``

/**
 * A part that is put together from literals and the values between them. Only for `columns.ts`: its literals are names and
 * types of columns, which stand in the source, too.
 */
export function partOf(literals: readonly string[], values: readonly unknown[] = []): Part {
  return new Part(literals, values)
}

/** Builds a statement in which every `${}` is a bound value or a `part`; text never comes from a value. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Query {
  if (values.some(isPart)) return composed(new Part(strings, values))
  let statement = prepared.get(strings)
  if (!statement) {
    const text = strings.reduce((whole, part, index) => `${whole}$${index}${part}`)
    statement = { name: statementName(text), text }
    prepared.set(strings, statement)
  }
  return { name: statement.name, text: statement.text, values }
}

/** Sends a statement to the coordinator of a cluster, which alone has its tables. */
export function atCoordinator(query: Query): Query {
  return { ...query, isAtCoordinator: true }
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

function composed(whole: Part): Query {
  const values: unknown[] = []
  // The same literals in the same places make the same text, so it is put together only once.
  let key = ''
  const gather = ({ strings, values: own }: Part) => {
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

function textOf({ strings, values }: Part, count: { bound: number }): string {
  return strings.reduce((text, next, index) => {
    const value = values[index - 1]
    if (isPart(value)) return `${text}${textOf(value, count)}${next}`
    count.bound += 1
    return `${text}$${count.bound}${next}`
  })
}

function isPart(value: unknown): value is Part {
  return value instanceof Part
}

function statementName(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 24)
}

/** An instant as PostgreSQL takes it; null stays null. */
export function timestamp(instant: number | null | undefined): string | null {
  if (instant === null || instant === undefined) return null
  // In a batch the same instant comes many times in a row.
  if (instant !== lastInstant) {
    lastText = new Date(instant).toISOString()
    lastInstant = instant
  }
  return lastText
}

let lastInstant = Number.NaN
let lastText = ''
