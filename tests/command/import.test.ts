import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { User } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { run, runJson } from './process.ts'
import { startSandbox } from './sandbox.ts'

const sandbox = forAllTests(startSandbox)

type Result = {
  taken: number
  equal: number
  different: number
  refused: number
  errors: { line: number; field: string; code: string }[]
  outside: { line: number; field: string; code: string }[]
}

/** Imports a file of this content; refused lines end the command with 1, and its answer is printed all the same. */
async function importFile(partnerId: string, content: string | Buffer, ...words: string[]): Promise<Result> {
  const file = join(sandbox.place.cwd, 'members')
  await writeFile(file, content)
  const { stdout, code } = await run(
    ['import', partnerId, file, '--reason', 'canary-reason', '--json', ...words],
    sandbox.place,
  )
  const { statement: _, ...result } = JSON.parse(stdout) as Result & { statement?: unknown }
  expect(code).toBe(result.errors.length > 0 ? 1 : 0)
  return result
}

const header =
  'userid,firstname,lastname,email,dob,state,zipcode,addline1,offername,offersince,benefits,consents,consentevidence'
function row(userid: string, rest = 'mid,2024-05-01,art@2024-06-01;books,,'): string {
  return `${userid},Ada,"King, Lovelace",ada@example.com,1990-03-27,FL,33101,"12 ""Ocean"" Drive",${rest}`
}
const member = {
  firstname: 'Ada',
  lastname: 'King',
  email: 'ada@example.com',
  dob: '1990-03-27',
  state: 'FL',
  zipcode: '33101',
  offername: 'mid',
  offersince: '2024-05-01',
} as const
function line(userid: string, more: object = {}): string {
  return JSON.stringify({ userid, ...member, ...more })
}
const none = { taken: 0, equal: 0, different: 0, refused: 0, errors: [], outside: [] }

test('members come in with their original dates, once, unheard, and on record with the reason', async () => {
  const { partnerid, client } = await sandbox.newPartner()
  const content = [header, row('m1'), row('m2', 'mid,2025-01-01,art,,')].join('\n')
  expect(await importFile(partnerid, content, '--dry-run')).toEqual({ ...none, taken: 2 })
  await expect(client.getUser({ userid: 'm1' })).rejects.toMatchObject({ status: 404 })
  expect(await importFile(partnerid, content)).toEqual({ ...none, taken: 2 })
  const user = (await client.getUser({ userid: 'm1', include: ['timeline'] })) as User
  expect(user).toMatchObject({
    status: 'active',
    currentofferdetails: { offer: 'mid', updatedat: '2024-05-01T04:00:00.000Z' },
  })
  const starts = Object.fromEntries(user.benefits.map(one => [one.name, one.startsattimestamp]))
  expect(starts).toMatchObject({ art: '2024-06-01T04:00:00.000Z', books: '2024-05-01T04:00:00.000Z' })
  expect(new Set(user.timeline?.map(({ who, why }) => `${who} ${why}`))).toEqual(
    new Set(['operator imported']),
  )
  expect((await client.listEvents({})).events).toEqual([])
  expect(await importFile(partnerid, content)).toEqual({ ...none, equal: 2 })
  const { stdout } = await run(['audit', 'export', partnerid], sandbox.place)
  expect(stdout).toContain('"import"')
  expect(stdout).not.toContain('canary-reason')
})

test('member numbers are kept sealed, and another number is a difference', async () => {
  const { partnerid } = await sandbox.newPartner()
  const numbered = (memberid: string) => line('m1', { benefits: [{ name: 'art', memberid }] })
  expect(await importFile(partnerid, numbered('canary-7'))).toEqual({ ...none, taken: 1 })
  expect(await importFile(partnerid, numbered('canary-7'))).toEqual({ ...none, equal: 1 })
  expect(await importFile(partnerid, numbered('other-8'))).toMatchObject({ different: 1 })
  const words = ['user', 'export', partnerid, 'm1', '--reason', 'look']
  expect((await run(words, sandbox.place)).stdout).toContain('canary-7')
})

test('with --events each member taken raises one event', async () => {
  const { partnerid, client } = await sandbox.newPartner()
  await importFile(partnerid, `${line('m1')}\n${line('m2')}\n`, '--events')
  const { events } = await client.listEvents({})
  expect(events.map(({ eventname, userid }) => `${eventname} ${userid}`).sort()).toEqual([
    'enrollment_successful m1',
    'enrollment_successful m2',
  ])
})

test('what differs is reported and stays, and an erased person is never taken in again', async () => {
  const { partnerid, client } = await sandbox.newPartner()
  await importFile(partnerid, [line('m1'), line('m2'), line('m3')].join('\n'))
  await client.updateUser({ userid: 'm1', phone: '3055550199' })
  await client.eraseUser({ userid: 'm3' })
  const again = await importFile(
    partnerid,
    [line('m1'), line('m2', { offersince: '2024-05-02' }), line('m3')].join('\n'),
  )
  expect(again).toEqual({
    ...none,
    different: 2,
    refused: 1,
    errors: [
      { line: 1, field: 'person', code: 'different' },
      { line: 2, field: 'offersince', code: 'different' },
      { line: 3, field: 'userid', code: 'user_erased' },
    ],
  })
  expect(((await client.getUser({ userid: 'm2' })) as User).currentofferdetails.updatedat).toBe(
    '2024-05-01T04:00:00.000Z',
  )
})

test('a wrong line is named by number, field and code, never by a value, and the others are taken', async () => {
  const { partnerid } = await sandbox.newPartner()
  const content = [
    header,
    row('m1'),
    row('m2').replace('1990-03-27', '2199-01-01'),
    row('m3', 'nope,2024-05-01,art,,'),
    row('m4', 'mid,2024-05-01,canary-benefit,,'),
    row('m5', 'mid,2199-05-01,art,,'),
    row('m6', 'mid,2024-05-01,art;art@x,,'),
    row('m7', 'nope,2024-05-01,art@;art#x,x/1,'),
    row('m8'),
  ].join('\n')
  expect(await importFile(partnerid, content)).toEqual({
    ...none,
    taken: 2,
    refused: 6,
    errors: [
      { line: 3, field: 'dob', code: 'future' },
      { line: 4, field: 'offername', code: 'offername_unknown' },
      { line: 5, field: 'benefits[0]', code: 'benefit_unknown' },
      { line: 6, field: 'offersince', code: 'range' },
      { line: 7, field: 'benefits[1].startson', code: 'format' },
      { line: 8, field: 'benefits[0].startson', code: 'format' },
      { line: 8, field: 'benefits[1].startson', code: 'format' },
      { line: 8, field: 'consents[0].version', code: 'minLength' },
      { line: 8, field: 'consents[0].agreedat', code: 'pattern' },
      { line: 8, field: 'consents[0].evidence', code: 'minLength' },
    ],
  })
})

test('a line with two faults shows both, and each code is explained', async () => {
  const { partnerid } = await sandbox.newPartner()
  const twice = line('m1', { offername: 'nope', offersince: '2199-01-01', dob: '2199-01-01' })
  const file = join(sandbox.place.cwd, 'members')
  await writeFile(file, `${twice}\n${line('m2', { partnername: 'Somebody Else' })}`)
  const { stdout } = await run(['import', partnerid, file, '--reason', 'x'], sandbox.place)
  const said = [
    '1: dob: future',
    '1: offername: offername_unknown',
    '1: offersince: range',
    '2: partnername: partnername_not_allowed',
  ]
  for (const one of said) expect(stdout).toContain(`  line ${one}\n`)
  for (const code of said.map(one => one.split(': ')[2]))
    expect(stdout).toMatch(new RegExp(`^  ${code}: \\w+`, 'm'))
})

test('members are charged from the month in which they move in, or from --charge-from; a dry run says what that comes to', async () => {
  await using service = await startTestService({ clock: Date.now })
  const today = new Date()
  const middle = (months: number) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + months, 12, 15))
  const [past, running, coming] = [1, 2, 4].map(months => middle(months).toISOString().slice(0, 7))
  const place = {
    cwd: sandbox.place.cwd,
    env: { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey },
  }
  const { partnerId, client } = await service.newPartner()
  await client.advanceClock({ advanceto: middle(2).toISOString() })
  const longAgo = { offersince: '2024-03-10', benefits: [{ name: 'critical', startson: '2023-05-01' }] }
  const moves = async (userid: string, words: readonly string[] = [], since: object = longAgo) => {
    const file = join(place.cwd, `moves-${userid}`)
    await writeFile(file, line(userid, { offername: 'plus', ...since }))
    return runJson<Result & { statement?: { month: string; after: { partnercents: number } } }>(
      ['import', partnerId, file, '--reason', 'x', ...words],
      place,
    )
  }
  const comesTo = async () => {
    const { statements } = await client.listStatements({})
    return statements.map(({ month, users, personcents, partnercents }) => [
      month,
      users,
      personcents,
      partnercents,
    ])
  }
  const linesOf = async (month: string | number) =>
    (await client.listStatementLines({ month: String(month) })).lines.map(one => [
      one.userid,
      one.kind,
      one.name,
      one.fromdate,
      one.about,
    ])
  const { statement } = await moves('moves', ['--dry-run'])
  expect(await comesTo()).toEqual([[running, 0, 0, 0]])
  await moves('moves')
  const [[month = '', users, personcents = 0, partnercents = 0] = [], ...before] = await comesTo()
  expect([month, users, before]).toEqual([running, 1, []])
  expect(statement).toEqual({
    month: running,
    before: { users: 0, personcents: 0, partnercents: 0 },
    after: { users: 1, personcents, partnercents },
  })
  expect(partnercents).toBeGreaterThan(0)
  expect(await linesOf(month)).toContainEqual(['moves', 'benefit', 'critical', `${running}-01`, ''])
  const later = await moves('later', ['--charge-from', `${coming}-01`, '--dry-run'])
  expect(later.statement).toMatchObject({ month: coming, after: { users: 1 + 1 } })
  await moves('later', ['--charge-from', `${coming}-01`])
  expect((await linesOf(month)).filter(([userid]) => userid === 'later')).toEqual([])
  const earlier = await moves('earlier', ['--charge-from', `${past}-01`, '--dry-run'])
  expect(earlier.statement).toMatchObject({ month: past, after: { users: 1, partnercents } })
  await moves('earlier', ['--charge-from', `${past}-01`])
  expect((await comesTo()).map(([name, users]) => [name, users])).toEqual([
    [running, 2],
    [past, 1],
  ])
  // Who comes before the day of the file is charged from then: the import was taken in that month.
  await moves('ahead', [], { offersince: `${coming}-01` })
  await client.cancelUser({ userid: 'ahead' })
  const { dob, email, firstname, lastname, state, zipcode } = member
  await client.createUser({
    userid: 'ahead',
    dob,
    email,
    firstname,
    lastname,
    state,
    zipcode,
    offername: 'plus',
  })
  expect((await linesOf(month)).filter(([userid]) => userid === 'ahead')).not.toEqual([])
  await sandbox.refusal('import', partnerId, 'nothing', '--reason', 'x', '--charge-from', `${coming}-02`)
})

test('a dry run names each line whose userid an earlier line has', async () => {
  const { partnerid } = await sandbox.newPartner()
  const content = ['m1', 'm2', 'm1', 'm1'].map(userid => line(userid)).join('\n')
  expect(await importFile(partnerid, content, '--dry-run')).toEqual({
    ...none,
    taken: 2,
    refused: 2,
    errors: [
      { line: 3, field: 'userid', code: 'duplicate' },
      { line: 4, field: 'userid', code: 'duplicate' },
    ],
  })
})

test('a header that is none stops the import by its place, and never shows it', async () => {
  const { partnerid } = await sandbox.newPartner()
  const file = join(sandbox.place.cwd, 'members')
  const told = async (first: string) => {
    await writeFile(file, `${first}\n${row('m1')}`)
    return sandbox.refusal('import', partnerid, file, '--reason', 'x')
  }
  expect(await told('m1,Canaryname,King')).toContain('Column 1 of the first line has')
  expect(await told('m1,Canaryname,King')).not.toContain('anary')
  expect(await told('userid,ofername')).toContain('Column 2 (ofername) of the first line has')
})

test('rules are enforced with --check only', async () => {
  const { partnerid, client } = await sandbox.newPartner()
  const child = line('m1', { state: 'NY', benefits: ['teeth'] })
  const checked = await importFile(partnerid, child, '--check')
  expect(checked).toMatchObject({ taken: 0, refused: 1 })
  const { outside } = checked
  expect(outside).toEqual([])
  const taken = await importFile(partnerid, child)
  expect(taken).toEqual({ ...none, taken: 1, outside: checked.errors })
  expect(taken.outside).toEqual([{ line: 1, field: 'benefits[0]', code: expect.any(String) }])
  expect(await client.getUser({ userid: 'm1' })).toMatchObject({ status: 'active' })
})

test('the 200 members of the example move in, and go on after a database that did not keep up', async () => {
  await using service = await startTestService({ clock: Date.now })
  const env = { DATABASE_URL: urlOf(service.address), ENROLMENT_ROOT_KEY: service.rootKey }
  const { partnerId } = await service.newPartner()
  const example = fileURLToPath(new URL('../../examples/moving-in/members.csv', import.meta.url))
  const words = ['import', partnerId, example, '--reason', 'example', '--check']
  const place = { cwd: sandbox.place.cwd, env }
  const brokenOff = await service.database.transaction(async tx => {
    await tx.query(sql`set local idle_in_transaction_session_timeout = 0`)
    await tx.query(sql`lock table users in share mode`)
    return run(words, place)
  })
  expect([brokenOff.code, brokenOff.stderr]).toEqual([
    1,
    expect.stringContaining('import the same file again'),
  ])
  expect(await runJson<Result>(words, place)).toEqual({ ...none, taken: 200 })
})
