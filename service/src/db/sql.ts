import { createHash } from 'node:crypto'

/** One statement with its bound values; its name lets the database keep the plan. */
export type Query = { readonly name: string; readonly text: string; readonly values: unknown[] }

const prepared = new WeakMap<TemplateStringsArray, { name: string; text: string }>()

/**
 * A part of a statement, with the values bound in it. It is a class so that `sql` can tell it from every value that a
 * request could bring: only `part` makes one, and its text stands in the source.
 */
class Part {
  readonly strings: TemplateStringsArray
  readonly values: readonly unknown[]
  constructor(strings: TemplateStringsArray, values: readonly unknown[]) {
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

/** Builds a statement in which every `${}` is a bound value or a `part`; text never comes from a value. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Query {
  if (values.some(isPart)) return composed(new Part(strings, values))
  let statement = prepared.get(strings)
  if (!statement) {
    const text = strings.reduce((whole, part, index) => `${whole}$${index}${part}`)
    statement = { name: nameOf(text), text }
    prepared.set(strings, statement)
  }
  return { name: statement.name, text: statement.text, values }
}

/**
 * Returns what adds `and COLUMN = any (PARTNERS)` to a statement where tables are spread over machines, and nothing
 * elsewhere. Citus runs a statement on one node only if the partner of each table in it is named; plain PostgreSQL would
 * choose worse plans because of it.
 */
export function namingPartners(isSpread: boolean, partnerIds: unknown): (column: Part) => Part {
  return column => (isSpread ? part`and ${column} = any (${partnerIds}::uuid[])` : nothing)
}

/**
 * Returns what writes the first list of an `unnest` so that PostgreSQL keeps the plan of its statement. It plans for ten
 * rows; if it saw that a list has fewer, it would make a new plan each time, which costs more than all else about a small
 * batch (0.2 to 0.7 ms). On a cluster nothing changes, because there each statement is planned anew.
 */
export function ofAnyLength({ isSpread }: { readonly isSpread: boolean }, list: Part): Part {
  return isSpread ? list : part`(select ${list})`
}

const names = new Map<string, string>()

function composed(whole: Part): Query {
  const values: unknown[] = []
  const textOf = ({ strings, values: own }: Part): string =>
    strings.reduce((text, next, index) => {
      const value = own[index - 1]
      return `${text}${isPart(value) ? textOf(value) : `$${values.push(value)}`}${next}`
    })
  const text = textOf(whole)
  const name = names.get(text) ?? nameOf(text)
  names.set(text, name)
  return { name, text, values }
}

function isPart(value: unknown): value is Part {
  return value instanceof Part
}

function nameOf(text: string): string {
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
