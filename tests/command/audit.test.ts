import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { type Created, newWorkplace } from './place.ts'
import { run, runJson, runRefused } from './process.ts'

test('what an operator does is on record: who, what, with what result', async () => {
  const { place, remove, address } = await newWorkplace()
  onTestFinished(remove)
  await runJson(['migrate'], place)
  const { partnerid } = await runJson<Created>(['partner', 'create', '--name', 'Recorded'], place)
  await runJson(['partner', 'show', partnerid], place)
  expect((await run(['user', 'show', partnerid, 'nobody'], place)).code).toBe(1)
  const { stdout } = await run(['audit', 'export', partnerid], place)
  const lines = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>)
  expect(lines.map(({ action, result, actorkind }) => [action, result, actorkind])).toEqual([
    ['partner show', 'done', 'command'],
    ['user show', 'refused', 'command'],
  ])
  expect(lines[0]?.['actor']).toMatch(/^\S+$/)
  expect(await runJson(['audit', 'verify'], place)).toMatchObject({ ok: true })

  const database = openDatabase(address, { max: 1, ...patientDatabase })
  onTestFinished(() => database.close())
  await database.query(sql`
    insert into audit_blocks (partner_id, source, number, from_at, until_at, rows, key_id, leaves, hash, sealed_at)
    values (${partnerid}, 'audit_log', 1, '2020-01-01', '2020-01-02', 1, 'partner', ''::bytea, ''::bytea, '2020-01-02')`)
  expect(await runRefused(['audit', 'verify', partnerid], place)).toContain('block altered')
  const heads = await runJson<{ number: number }>(['audit', 'export', partnerid, '--heads'], place)
  expect(heads.number).toBe(1)
})
