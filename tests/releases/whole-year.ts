import { expect } from 'vitest'
import type { Executor } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'

/** States that the schema allows and nothing writes, with the reason. */
const neverStored: Readonly<Record<string, string>> = {
  'enrolments.state selected': 'what is picked on the page is in the draft until somebody enrols',
}

/** Expects a row in every table, and of every state of users, enrolments and runs of feeds. */
export async function checkEverythingIsThere(database: Pick<Executor, 'query'>): Promise<void> {
  const tables = await database.query<{ name: string }>(sql`
    select c.relname::text as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition`)
  const empty: string[] = []
  for (const { name } of tables) {
    const text = `select exists (select from ${name}) as found`
    const [row] = await database.query<{ found: boolean }>({ name: '', text, values: [] })
    if (!row?.found) empty.push(name)
  }
  expect([tables.length > 40, empty], 'empty tables').toEqual([true, []])

  const missing: string[] = []
  for (const place of ['users.status', 'enrolments.state', 'feed_runs.status']) {
    const [table = '', column = ''] = place.split('.')
    const states = await statesOf(database, table, column)
    const text = `select distinct ${column} as state from ${table}`
    const found = await database.query<{ state: string }>({ name: '', text, values: [] })
    const known = new Set(found.map(({ state }) => state))
    missing.push(...states.filter(state => !known.has(state)).map(state => `${place} ${state}`))
  }
  expect(missing.sort(), 'states without a row').toEqual(Object.keys(neverStored).sort())
}

/** The values that the check constraint of a column allows. */
async function statesOf(
  database: Pick<Executor, 'query'>,
  table: string,
  column: string,
): Promise<readonly string[]> {
  const [check] = await database.query<{ text: string }>(sql`
    select pg_get_constraintdef(c.oid) as text from pg_constraint c
    join pg_attribute a on a.attrelid = c.conrelid and a.attname = ${column}
    where c.conrelid = ${table}::regclass and c.contype = 'c' and c.conkey = array[a.attnum]`)
  const states = [...(check?.text.replaceAll('::text', '') ?? '').matchAll(/[a-z_]{3,}(?=[,}'])/g)].map(
    ([state]) => state,
  )
  if (states.length < 3) throw new Error(`no states in the check of ${table}.${column}: ${check?.text}`)
  return states
}
