import { readFile } from 'node:fs/promises'
import { enrolmentStates, userStatuses } from '@benefit-enrolment/contract'
import { expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { enrolmentTransitions, userTransitions } from '../../service/src/membership/rules/history.ts'
import { patientDatabase } from '../patient-database.ts'
import { freshDatabase } from '../rig.ts'

async function drawings(): Promise<string[][]> {
  const text = await readFile(new URL('../../docs/states.md', import.meta.url), 'utf8')
  return [...text.matchAll(/```mermaid\nstateDiagram-v2\n([^`]*)```/g)].map(([, drawn = '']) =>
    drawn
      .trim()
      .split('\n')
      .map(line => line.trim()),
  )
}

function drawn(table: Readonly<Record<string, readonly string[]>>, dot: string): string[] {
  const name = (state: string) => (state === dot ? '[*]' : state)
  return Object.entries(table).flatMap(([from, to]) => to.map(state => `${name(from)} --> ${name(state)}`))
}

test('the drawings are the tables', async () => {
  const [users, enrolments, ...more] = await drawings()
  expect(more).toEqual([])
  expect(users).toEqual(drawn(userTransitions, 'none'))
  expect(enrolments).toEqual(drawn(enrolmentTransitions, 'new'))
})

test('the tables are total, and name the states of the contract', () => {
  expect(Object.keys(userTransitions).sort()).toEqual(['none', ...userStatuses].sort())
  expect(Object.keys(enrolmentTransitions).sort()).toEqual(['new', ...enrolmentStates].sort())
  for (const [table, states] of [
    [userTransitions, ['none', ...userStatuses]],
    [enrolmentTransitions, enrolmentStates],
  ] as const)
    for (const to of Object.values(table).flat()) expect(states).toContain(to)
})

test('the schema allows these states and no other, and no overlapping windows', async () => {
  const { address, drop } = await freshDatabase()
  const database = openDatabase(address, { max: 1, ...patientDatabase })
  try {
    const rows = await database.query<{ table: string; kind: string; text: string }>(sql`
      select conrelid::regclass::text as table, contype as kind, pg_get_constraintdef(oid) as text
      from pg_constraint where conrelid in ('users'::regclass, 'enrolments'::regclass)`)
    const allowed = (table: string, column: string) => {
      const list = rows.find(row => row.table === table && row.text.startsWith(`CHECK ((${column} = ANY`))
      return /'\{([\w,]+)\}'/
        .exec(list?.text ?? '')?.[1]
        ?.split(',')
        .sort()
    }
    expect(allowed('users', 'status')).toEqual(['none', ...userStatuses].sort())
    expect(allowed('enrolments', 'state')).toEqual([...enrolmentStates].sort())
    const [exclusion] = rows.filter(row => row.kind === 'x')
    const over = ['withdrawn', 'declined', 'rejected', 'void']
    for (const state of enrolmentStates)
      expect(exclusion?.text.includes(`'${state}'`), state).toBe(!over.includes(state))
  } finally {
    await database.close()
    await drop()
  }
})
