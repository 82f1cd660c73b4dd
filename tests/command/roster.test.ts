// @databases stock

import { beforeAll, describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada } from '../rig.ts'
import { run, runJson } from './process.ts'
import { startSandbox } from './sandbox.ts'

type Entry = { userid: string; change: string; startson: string; endson: string; firstname: string }

const sandbox = forAllTests(startSandbox)
const partner = forAllTests(() => sandbox.newPartner())
let today: string
let nextMonth: string

/** The date in the partner's time zone, this many days from the real today. */
function dateIn(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000)
  return new Intl.DateTimeFormat('en-CA', { timeZone: 'America/New_York' }).format(at)
}

function rosterOn(on: string, ...words: string[]): Promise<{ covered: Entry[] }> {
  return runJson(['roster', '--benefit', 'art', '--on', on, '--partner', partner.partnerid, ...words], {
    ...sandbox.place,
  })
}

beforeAll(async () => {
  today = dateIn(0)
  nextMonth = dateIn(45)
  const create = (userid: string, firstname: string) =>
    partner.client.createUser({ userid, ...ada, firstname, state: 'NY', offername: 'mid', benefits: ['art'] })
  await create('stays', 'Ada')
  await create('leaves', '=HYPERLINK("https://example.com")')
  await create('erased', 'Eve')
  await partner.client.createUser({ userid: 'without', ...ada, state: 'NY', offername: 'mid' })
  await partner.client.cancelUser({ userid: 'leaves', effective: 'immediate' })
  await partner.client.eraseUser({ userid: 'erased' })
})

describe('roster', () => {
  test('lists who is covered at any time of the day, with the days of coverage, and nobody who was erased', async () => {
    const { covered } = await rosterOn(today)
    expect(covered.map(({ userid, startson, endson }) => ({ userid, startson, endson }))).toEqual([
      { userid: 'stays', startson: today, endson: '' },
      { userid: 'leaves', startson: today, endson: today },
    ])
    expect((await rosterOn(nextMonth)).covered.map(({ userid }) => userid)).toEqual(['stays'])
    expect((await rosterOn(dateIn(-1))).covered).toEqual([])
  })

  test('tells who was added, ended or kept since another day', async () => {
    const changes = async (on: string, since: string) =>
      Object.fromEntries((await rosterOn(on, '--since', since)).covered.map(one => [one.userid, one.change]))
    expect(await changes(today, dateIn(-1))).toEqual({ stays: 'added', leaves: 'added' })
    expect(await changes(nextMonth, today)).toEqual({ stays: 'kept', leaves: 'ended' })
  })

  test('is a CSV file in which no name is a formula', async () => {
    const { stdout, code } = await run(
      ['roster', '--benefit', 'art', '--on', today, '--csv', '--partner', partner.partnerid],
      sandbox.place,
    )
    expect(code).toBe(0)
    const [head, , second] = stdout.split('\r\n')
    expect(head).toBe(
      'change,partnerid,userid,serviceid,firstname,lastname,dob,state,zipcode,offer,startson,endson',
    )
    expect(second).toContain(`"'=HYPERLINK(""https://example.com"")"`)
  })

  test('refuses a date that is none, and a partner that does not exist', async () => {
    expect(await sandbox.refusal('roster', '--benefit', 'art', '--on', '2026-02-30')).toMatch(
      /--on must be a date/,
    )
    expect(await sandbox.refusal('roster', '--benefit', 'art', '--on', today, '--partner', 'nobody')).toMatch(
      /partner/,
    )
  })

  test('refuses a benefit that no catalogue has, instead of telling that nobody is covered', async () => {
    expect(await sandbox.refusal('roster', '--benefit', 'arts', '--on', today)).toMatch(
      /^No version of the catalogue has a benefit "arts": --benefit is one of .*\bart\b/,
    )
  })

  test('refuses to compare with a later day', async () => {
    expect(await sandbox.refusal('roster', '--benefit', 'art', '--on', today, '--since', nextMonth)).toMatch(
      /^--since must not be later than --on/,
    )
  })
})
