import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
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
    ['partner create', 'done', 'command'],
    ['partner show', 'done', 'command'],
    ['user show', 'refused', 'command'],
  ])
  expect(lines[0]?.['actor']).toMatch(/^\S+$/)
  const backwards = await run(['audit', 'export', '--from', '2026-11-02', '--until', '2026-11-01'], place)
  expect([backwards.code, backwards.stderr]).toEqual([2, expect.stringContaining('later day than --from')])
  expect(await runJson(['audit', 'verify'], place)).toMatchObject({ ok: true })

  const database = openDatabase(address, { max: 1, ...patientDatabase })
  onTestFinished(() => database.close())
  await database.query(sql`
    insert into audit_blocks (partner_id, source, number, from_at, until_at, rows, key_id, leaves, hash, sealed_at)
    values (${partnerid}, 'audit_log', 1, '2020-01-01', '2020-01-02', 1, 'partner', ''::bytea, ''::bytea, '2020-01-02')`)
  expect(await runRefused(['audit', 'verify', partnerid], place)).toContain('block altered')
  const { stdout: head } = await run(['audit', 'export', partnerid, '--heads'], place)
  expect(JSON.parse(head)).toMatchObject({ number: 1 })

  // A signature that is kept elsewhere shows a block that was signed anew, or is gone.
  const file = join(place.cwd, 'heads')
  await writeFile(file, head)
  await database.query(sql`update audit_blocks set hash = '\\x01'::bytea`)
  const withHeads = ['audit', 'verify', partnerid, '--heads', file]
  expect(await runRefused(withHeads, place)).toContain('block altered')
  await database.query(sql`delete from audit_blocks`)
  expect(
    await runRefused(withHeads, { ...place, env: { ...place.env, ENROLMENT_AUDIT_KEEP: '99y' } }),
  ).toContain('block missing')
  // Entries of that time have been deleted meanwhile, and their blocks with them.
  expect(
    await runJson(withHeads, { ...place, env: { ...place.env, ENROLMENT_AUDIT_KEEP: '1y' } }),
  ).toMatchObject({
    ok: true,
    heads: 1,
  })
  await writeFile(file, 'nonsense\n')
  expect(await runRefused(withHeads, place)).toContain('Line 1 of the file of --heads')
})
