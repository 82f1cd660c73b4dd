import { expect, test } from 'vitest'
import { dateAt } from '../../service/src/calendar/calendar.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada } from '../rig.ts'
import { run, runJson } from './process.ts'
import { startSandbox } from './sandbox.ts'

const sandbox = forAllTests(startSandbox)
const partner = forAllTests(() => sandbox.newPartner())

type Corrected = {
  readonly dryrun: boolean
  readonly events: string[]
  readonly changes: { what: string; from: string; to: string }[]
}
function correct(userid: string, ...words: string[]) {
  return runJson<Corrected>(['user', 'correct', partner.partnerid, userid, ...words], sandbox.place)
}
async function newUser(userid: string) {
  await partner.client.createUser({ userid, ...ada, offername: 'mid', benefits: ['art', 'books'] })
}
async function events(userid: string) {
  const listed = await partner.client.listEvents({ userid })
  return listed.events.map(({ eventname, data }) => [eventname, data])
}
async function benefit(userid: string, wanted: string) {
  const user = await partner.client.getUser({ userid, include: ['timeline'] })
  if (user.status === 'erased') throw new Error('erased')
  return {
    found: user.benefits.find(({ name }) => name === wanted),
    told: (user.timeline ?? []).filter(({ what }) => what.endsWith(` ${wanted}`)),
  }
}

test('an enrolment is voided: shown first, then done, told once, kept in the timeline and on record', async () => {
  await newUser('u-void')
  const before = await events('u-void')
  const words = ['--benefit', 'art', '--void']
  const shown = await correct('u-void', ...words, '--dry-run')
  expect(shown).toMatchObject({ dryrun: true, events: ['benefit_enrollment_corrected'] })
  expect(shown.changes).toContainEqual({ what: 'benefit art', from: 'enrolled', to: 'void' })
  expect(await events('u-void')).toEqual(before)
  const alone = ['user', 'correct', partner.partnerid, 'u-void', ...words, '--reason', 'never asked for it']
  expect(await sandbox.refusal(...alone)).toContain('needs a second person')
  const done = await correct('u-void', ...words, '--alone', '--reason', 'never asked for it')
  expect(done).toEqual({ ...shown, dryrun: false })
  expect(await events('u-void')).toEqual([...before, ['benefit_enrollment_corrected', { name: 'art' }]])
  const { found, told } = await benefit('u-void', 'art')
  expect(found).toBeUndefined()
  expect(told.map(({ what, to }) => `${what} ${to}`)).toEqual(
    expect.arrayContaining(['benefit art enrolled', 'benefit art void']),
  )
  const { stdout } = await run(['audit', 'export', partner.partnerid], sandbox.place)
  expect(stdout).toContain('user correct alone')
  expect(stdout).not.toContain('never asked for it')
  expect(
    await sandbox.refusal('user', 'correct', partner.partnerid, 'u-void', ...words, '--dry-run'),
  ).toContain('no enrolment in art')
})

test('a start moves to an earlier day, and the timeline has both', async () => {
  await newUser('u-move')
  const zone = 'America/New_York'
  const first = dateAt(Date.now() - 5 * 86_400_000, zone)
  await correct(
    'u-move',
    '--benefit',
    'books',
    '--start',
    first,
    '--alone',
    '--reason',
    'they joined on that day',
  )
  const { found, told } = await benefit('u-move', 'books')
  expect(found?.state).toBe('enrolled')
  expect(dateAt(Date.parse(found?.startsattimestamp ?? ''), zone)).toBe(first)
  const moved = told.find(({ what }) => what === 'start of books')
  expect(moved).toMatchObject({ who: 'operator', to: found?.startsattimestamp })
  expect(Date.parse(moved?.from ?? '')).toBeGreaterThan(Date.parse(moved?.to ?? ''))
  const [row] = await sandbox.database.query<{ count: number }>(sql`
    select count(*) as count from enrolments where corrects is not null and partner_id = ${partner.partnerid}`)
  expect(row?.count).toBe(1)
})

test('an erasure is shown before it is done, for no reason and by one alone; only what is done is on record as done', async () => {
  await newUser('u-leave')
  const found = async () => [await partner.client.getUser({ userid: 'u-leave' }), await events('u-leave')]
  const before = await found()
  const erase = ['user', 'erase', partner.partnerid, 'u-leave']
  const shown = await runJson<Corrected>([...erase, '--dry-run'], sandbox.place)
  expect(shown).toMatchObject({ dryrun: true, events: ['offer_cancel_successful', 'user_erased'] })
  expect(shown.changes).toContainEqual({ what: 'user', from: 'active', to: 'erased' })
  expect(shown.changes).toContainEqual({ what: 'benefit art', from: 'enrolled', to: 'ended' })
  expect(await found()).toEqual(before)
  expect(await sandbox.refusal(...erase)).toContain('--reason is needed')
  expect(await sandbox.refusal(...erase, '--reason', 'by letter')).toContain('needs a second person')
  await runJson([...erase, '--alone', '--reason', 'by letter'], sandbox.place)
  const erased = await partner.client.getUser({ userid: 'u-leave' })
  expect(erased.status).toBe('erased')
  const recorded = await sandbox.database.query<{ action: string; result: string; because: boolean }>(sql`
    select action, result, sealed_reason is not null as because from audit_log
    where service_id = ${erased.serviceid} and actor_kind = 'command' order by entry_id`)
  expect(recorded).toEqual([
    { action: 'user erase --dry-run', result: 'done', because: false },
    { action: 'user erase', result: 'refused', because: false },
    { action: 'user erase alone', result: 'done', because: true },
  ])
})

test('what cannot be is refused with a sentence, and changes nothing', async () => {
  await newUser('u-not')
  const before = await events('u-not')
  const refusal = (...words: string[]) =>
    sandbox.refusal('user', 'correct', partner.partnerid, 'u-not', ...words)
  expect(await refusal('--void', '--dry-run')).toContain('--benefit is needed')
  expect(await refusal('--benefit', 'art', '--void')).toContain('--reason is needed')
  expect(await refusal('--benefit', 'art', '--dry-run')).toContain('--void')
  expect(await refusal('--benefit', 'art', '--void', '--start', '2026-01-01', '--dry-run')).toContain(
    '--void',
  )
  expect(await refusal('--benefit', 'art', '--start', 'soon', '--dry-run')).toContain('a date like')
  expect(await refusal('--benefit', 'art', '--start', '2999-01-01', '--dry-run')).toContain(
    'next period at most',
  )
  expect(await refusal('--benefit', 'nothing', '--void', '--dry-run')).toContain('no enrolment in nothing')
  expect(
    await sandbox.refusal(
      'user',
      'correct',
      partner.partnerid,
      'nobody',
      '--benefit',
      'art',
      '--void',
      '--dry-run',
    ),
  ).toContain('no user of that userid')
  expect(await events('u-not')).toEqual(before)
})
