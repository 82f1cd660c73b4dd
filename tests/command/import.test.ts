import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { keepPlans, onOneServer, usersKnown } from '../kept-plans.ts'
import { startTestService } from '../rig.ts'
import { urlOf } from './database-url.ts'
import { run, runJson } from './process.ts'
import { commandsBeside } from './sandbox.ts'

const own = forAllTests(() => startTestService({ clock: 'machine' }))
const sandbox = forAllTests(() => commandsBeside(own))

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

onOneServer('an import tells the planner how many members an empty database has by now', async () => {
  await using service = await startTestService({ clock: 'machine' })
  const beside = await commandsBeside(service)
  await keepPlans(service.database)
  const { partnerid } = await beside.newPartner()
  const file = join(beside.place.cwd, 'members')
  await writeFile(file, Array.from({ length: 600 }, (_, at) => line(`m${at}`)).join('\n'))
  await runJson(['import', partnerid, file, '--reason', 'x'], beside.place)
  expect(await usersKnown(service.database)).toBeGreaterThanOrEqual(64)
  await beside.close()
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

test('members are charged from the month in which they move in, or from --charge-from; a dry run says what that comes to', async () => {
  await using service = await startTestService({ clock: 'machine' })
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
    return runJson<
      Result & { statement?: { month: string; after: Record<'personcents' | 'partnercents', number> } }
    >(['import', partnerId, file, '--reason', 'x', ...words], place)
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
  const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' }
  const family = {
    ...{ offersince: '2024-03-10', benefits: ['dental'] },
    dependants: [{ ...spouse, benefits: [{ name: 'dental' }] }],
  }
  const told = await moves('family', ['--dry-run'], family)
  await moves('family', [], family)
  expect((await comesTo())[0]?.[2]).toBe(told.statement?.after.personcents)
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
  // Who leaves and becomes a member anew is no import any more, though the import is charged from a later month.
  await client.cancelUser({ userid: 'later', effective: 'immediate' })
  expect((await linesOf(month)).filter(([userid]) => userid === 'later')).toEqual([])
  const anew = { userid: 'later', dob, email, firstname, lastname, state, zipcode }
  await client.createUser({ ...anew, offername: 'starter' })
  const charged = (await linesOf(month)).filter(([userid]) => userid === 'later')
  expect(charged.map(([, kind, name]) => [kind, name])).toContainEqual(['offer', ''])
  expect(charged.map(([, , name]) => name)).not.toContain('critical')
  const day = middle(2).toISOString().slice(0, 10)
  expect(new Set(charged.map(([, , , fromdate]) => fromdate))).toEqual(new Set([day]))
  await sandbox.refusal('import', partnerId, 'nothing', '--reason', 'x', '--charge-from', `${coming}-02`)
})

test('the 200 members of the example move in, and go on after a database that did not keep up', async () => {
  await using service = await startTestService({ clock: 'machine' })
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
