import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { YEAR_MS } from '../../service/src/calendar/calendar.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { fileOf, lifeCatalogue } from '../life/catalogue.ts'
import { ada, startTestService } from '../rig.ts'
import { run, runJson } from './process.ts'
import { commandsBeside } from './sandbox.ts'

const service = forAllTests(() => startTestService({ clock: 'machine' }))
const sandbox = forAllTests(() => commandsBeside(service))
const partner = forAllTests(() => sandbox.newPartner('--timezone', 'UTC'))
/** The first of this month, and those of the two that follow. */
const [month = '', next = ''] = [0, 1].map(months => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1)).toISOString().slice(0, 7)
})

beforeAll(async () => {
  const benefits = lifeCatalogue.benefits.map(one =>
    one.name === 'art'
      ? { ...one, cost: { cents: 900, per: 'month' }, premium: { cents: 700, per: 'month' } }
      : one,
  )
  const file = join(sandbox.place.cwd ?? '', 'priced.yaml')
  await writeFile(file, fileOf({ ...lifeCatalogue, benefits } as never).replaceAll('dental', 'teeth'))
  await runJson(['catalogue', 'publish', file], sandbox.place)
  // The service has read no catalogue yet, so this one holds from the first request on.
  await partner.client.createUser({ userid: 'u', ...ada, state: 'NY', offername: 'low', benefits: ['art'] })
})

type Shown = {
  status: string
  users: number
  personcents: number
  insurercents: number
  lines: { name: string; insurer: string; insurercents: number }[]
}

function show(which: string, ...words: string[]): Promise<Shown> {
  return runJson(['statement', 'show', partner.partnerid, which, ...words], sandbox.place)
}

describe('enrolment statement', () => {
  test('shows the premiums by insurer, which the partner never sees', async () => {
    const shown = await show(month)
    expect(shown).toMatchObject({ status: 'open', users: 1, personcents: 0, insurercents: 700 })
    expect(shown.lines).toContainEqual(
      expect.objectContaining({ name: 'art', insurer: 'Insurer', insurercents: 700 }),
    )
    expect((await show(month, '--insurer', 'Insurer')).insurercents).toBe(700)
    expect((await show(month, '--insurer', 'other')).insurercents).toBe(0)
    const { stdout } = await run(['statement', 'show', partner.partnerid, month, '--csv'], sandbox.place)
    expect(stdout.split('\r\n')[0]).toMatch(/,moredetails,insurercents,insurer,days$/)
    expect(JSON.stringify(await partner.client.listStatementLines({ month }))).not.toContain('nsurer')
  })

  test('makes months final that have ended, the oldest first, once, and says before what it would do', async () => {
    expect(await sandbox.refusal('statement', 'finalize', partner.partnerid, month)).toContain(
      'has not ended',
    )
    await runJson(['clock', 'advance', partner.partnerid, `${next}-02T00:00:00Z`], sandbox.place)
    const finalize = (...words: string[]) =>
      runJson<{ months: string[] }>(['statement', 'finalize', partner.partnerid, ...words], sandbox.place)
    for (const none of [`${month}-01`, `${month.slice(0, 4)}-13`])
      expect(await sandbox.refusal('statement', 'finalize', partner.partnerid, none)).toContain('or is none')
    expect(await finalize('--dry-run')).toEqual({ dryrun: true, months: [month] })
    expect((await show(month)).status).toBe('open')
    expect((await finalize(month)).months).toEqual([month])
    expect((await finalize()).months).toEqual([])
    expect((await show(month)).status).toBe('final')
    const { statements } = await runJson<{ statements: { month: string; status: string }[] }>(
      ['statement', 'list', partner.partnerid],
      sandbox.place,
    )
    expect(statements.map(one => [one.month, one.status])).toEqual([
      [next, 'open'],
      [month, 'final'],
    ])
  })

  test('says before that it makes months final which are too old to be listed', async () => {
    const { partnerid, client } = await sandbox.newPartner('--timezone', 'UTC')
    await client.createUser({ userid: 'old', ...ada, state: 'NY', offername: 'low', benefits: ['art'] })
    // The clock moves without making months final on the way.
    await sandbox.database.query(sql`
      update partners set clock_offset_ms = ${3 * YEAR_MS} where partner_id = ${partnerid}`)
    const finalize = (...words: string[]) =>
      runJson<{ months: string[] }>(['statement', 'finalize', partnerid, ...words], sandbox.place)
    const { months } = await finalize('--dry-run')
    expect(months.length).toBeGreaterThan(24)
    expect((await finalize()).months).toEqual(months)
  })
})
