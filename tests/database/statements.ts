import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import type { Executor } from '../../service/src/db/types.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'

// What differs between databases is the statement: what one of them takes in, and how it plans it. `.ci/run` writes down each
// statement that its tests send to the embedded PostgreSQL 18, and this has it prepared and explained by a PostgreSQL 15, and in a
// cell of a cluster.

const folder = process.env['EXPLAIN'] ?? ''
const statements = new Set(
  readdirSync(folder).flatMap(name =>
    readFileSync(join(folder, name), 'utf8')
      .split('\n')
      .filter(line => line !== '')
      .map(line => JSON.parse(line) as string),
  ),
)
/** Tables of a test's own, the catalog of a cluster on plain PostgreSQL, and columns that a later migration drops. */
const OF_OTHER_TABLES = ['42P01', '42703']
/** What makes a cluster is asked of Citus alone. */
const OF_CITUS = /\b(citus_\w+|create_reference_table)\(/

const tests = fileURLToPath(new URL('..', import.meta.url))
const sources = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.ts'))
  .map(name => inOneLine(readFileSync(join(tests, name), 'utf8')))
function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
/** Whether a test wrote it: what stands before its first parameter is in a file of tests. */
function isOfTest(text: string): boolean {
  const [head = ''] = inOneLine(text).split('$')
  return sources.some(source => source.includes(head))
}

/** A text may be read as a day or as a number. */
const literals: Readonly<Record<string, string>> = {
  text: '20270101',
  uuid: '00000000-0000-7000-8000-000000000000',
  jsonb: '{}',
  bytea: '',
  date: '2027-01-01',
  'timestamp with time zone': '2027-01-01',
}

/** Some value of a type: with null a statement would find no rows, and need no plan. */
function literalOf(type: string): string {
  const text = type.endsWith('[]') ? '{}' : (literals[type] ?? '1')
  return `('${text}'::${type})`
}

/** Has it planned; returns how many nodes it asks. */
async function plan(executor: Executor, text: string): Promise<number> {
  const ask = <Row>(text: string) => executor.query<Row>({ text, values: [], name: '' })
  await ask(`prepare one as ${text}`)
  try {
    const [{ types } = { types: [] }] = await ask<{ types: readonly string[] }>(
      `select parameter_types::text[] as types from pg_prepared_statements where name = 'one'`,
    )
    // With literals: a cluster plans no parameters of what is executed by name, as it does those of the driver.
    const whole = text.replace(/\$(\d+)/g, (_, place) => literalOf(types[Number(place) - 1] ?? ''))
    const lines = await ask<Record<'QUERY PLAN', string>>(`explain ${whole}`)
    return Number(/Task Count: (\d+)/.exec(lines.map(line => line['QUERY PLAN']).join(' '))?.[1] ?? 1)
  } finally {
    await ask('deallocate one')
  }
}

test('each statement of the run is prepared and planned, and in a cell by one node', async () => {
  const { address, drop } = await freshDatabase()
  const all = openDatabase(address, { max: 1, ...patientDatabase })
  await all.learnCells()
  const [cell = all] = all.cells()
  const refused: string[] = []
  let planned = 0
  await cell.alone(async executor => {
    for (const text of statements) {
      try {
        const nodes = await plan(executor, text)
        if (nodes > 1 && !isOfTest(text)) refused.push(`${nodes} nodes are asked: ${text}`)
        planned += 1
      } catch (error) {
        const { code = '', message } = error as { code?: string; message: string }
        const isElsewhere = OF_OTHER_TABLES.includes(code) || OF_CITUS.test(text)
        if (!isElsewhere && !isOfTest(text)) refused.push(`${message}: ${text}`)
      }
    }
  })
  await all.close()
  await drop()
  process.stdout.write(`${planned} of ${statements.size} statements planned\n`)
  expect(refused).toEqual([])
  expect(planned).toBeGreaterThan(statements.size / 2)
})
