import { createHash } from 'node:crypto'

/** One statement with its bound values; its name lets the database keep the plan. */
export type Query = { readonly name: string; readonly text: string; readonly values: unknown[] }

const prepared = new WeakMap<TemplateStringsArray, { name: string; text: string }>()

/** Builds a statement in which every `${}` is a bound value; text never comes from a value. */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Query {
  let statement = prepared.get(strings)
  if (!statement) {
    const text = strings.reduce((whole, part, index) => `${whole}$${index}${part}`)
    statement = { name: createHash('sha256').update(text).digest('base64url').slice(0, 24), text }
    prepared.set(strings, statement)
  }
  return { ...statement, values }
}

/**
 * The statement with the conditions that it keeps in comments for databases that are spread: those that name the
 * partner of each table, so that Citus sees that one node has all. Plain PostgreSQL would choose worse plans by them.
 */
export function ofOnePartner({ name, text, values }: Query): Query {
  return { name: `${name}-one`, text: text.replace(/\/\* of one partner: (.*?) \*\//g, '$1'), values }
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
