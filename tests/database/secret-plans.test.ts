import { beforeAll, describe, expect } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { findSecrets } from '../../service/src/partners/directory.ts'
import { keepPlans, onOneServer } from '../kept-plans.ts'
import { oneConnection } from './one-connection.ts'

// PostgreSQL keeps the plan that it made for a look-up, whatever the tables hold later. So the plan must be right from the
// first row on: one of a table that was never analyzed, or was when it had a single row.

const partnerId = crypto.randomUUID()
const few = ['a', 'b', 'c']
const many = Array.from({ length: 100 }, (_, place) => `${place}`)

const database = oneConnection(async fresh => {
  await keepPlans(fresh)
  await fresh.query(sql`
    insert into partners (partner_id, name, timezone, wrapped_key, created_at, updated_at)
    values (${partnerId}, 'Plans', 'UTC', '', now(), now())`)
})

/** Adds a secret and a token of the partner for each of these numbers. */
async function issue(first: number, last: number): Promise<void> {
  await database.query(sql`
    insert into credentials (partner_id, credential_id, kind, pepper_id, hash, created_at, made_by)
    select ${partnerId}, n, 'api_key', 'p', '', now(), '' from generate_series(${first}::integer, ${last}::integer) as n`)
  await database.query(sql`
    insert into access_tokens (partner_id, token_id, credential_id, pepper_id, hash, scopes, issued_at, expires_at)
    select ${partnerId}, n, n, 'p', '', '{}', now(), now()
    from generate_series(${first}::integer, ${last}::integer) as n`)
}

/** A step of a plan, with those below it. */
type Step = {
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Rows Removed by Filter'?: number
  Plans?: Step[]
}

/** The plan that the server keeps of the statement that `look` sends. */
async function keptPlan(look: (db: Database) => Promise<unknown>): Promise<Step[]> {
  let asked: Query | undefined
  await look({
    ...database,
    query: async <Row>(query: Query) => {
      asked = query
      return [] as Row[]
    },
  })
  const { text = '', values = [] } = asked ?? {}
  const plain = (statement: string) => ({ text: statement, values: [] }) as unknown as Query
  const [row] = await database.alone(async session => {
    await session.query(plain('set plan_cache_mode = force_generic_plan'))
    await session.query(plain(`prepare kept as ${text}`))
    const given = values
      .map(value => (Array.isArray(value) ? `'{${value.join()}}'` : `'${value}'`))
      .join(', ')
    return session.query<{ 'QUERY PLAN': { Plan: Step }[] }>(
      plain(`explain (analyze, format json) execute kept(${given})`),
    )
  })
  const steps = (step: Step): Step[] => [step, ...(step.Plans ?? []).flatMap(steps)]
  return (row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => steps(Plan))
}

/** Callers whose token and API key have these ids. */
function callers(ids: string[]) {
  const kinds = ['access_token', 'api_key'] as const
  const asked = ids.flatMap(ownId => kinds.map(kind => ({ kind, partnerId, ownId })))
  return (db: Database) => findSecrets(db, asked)
}

describe.each([
  ['empty and never analyzed', async () => {}],
  ['with a single row, and never analyzed', () => issue(1, 1)],
  ['with a single row, and analyzed', () => database.script('analyze access_tokens, credentials')],
  ['with 2,000 rows, and analyzed when it had one', () => issue(2, 2000)],
  ['with 2,000 rows, and analyzed', () => database.script('analyze access_tokens, credentials')],
] as const)('on a table %s', (_, prepare) => {
  beforeAll(prepare)
  onOneServer.each([
    ['one caller', callers(['a'])],
    ['a few callers', callers(few)],
    ['many callers', callers(many)],
  ] as const)('%s: each row of theirs is found by its whole key', async (_name, look) => {
    const scans = (await keptPlan(look)).filter(step => step['Relation Name'] !== undefined)
    const keys = {
      access_tokens_pkey: /partner_id = .* AND .*token_id = /,
      credentials_pkey: /partner_id = .* AND .*credential_id = /,
      partners_pkey: /partner_id = /,
    }
    expect(scans.map(scan => scan['Index Name']).sort()).toEqual([
      'access_tokens_pkey',
      'credentials_pkey',
      'credentials_pkey',
      'partners_pkey',
    ])
    for (const scan of scans)
      expect(scan['Index Cond']).toMatch(keys[scan['Index Name'] as keyof typeof keys])
    expect(scans.map(scan => scan['Rows Removed by Filter'] ?? 0)).toEqual([0, 0, 0, 0])
  })
})
