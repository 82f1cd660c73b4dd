import { beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { codeOf } from './place.ts'
import { run, runJson } from './process.ts'
import { commandsBeside, type SandboxPartner } from './sandbox.ts'

// Only catches a hang: each test runs many processes, on a machine that may be busy.
const soon = { timeout: 120_000, interval: 100 }

const service = forAllTests(() => startTestService({ clock: 'machine' }))
const sandbox = forAllTests(() => commandsBeside(service))
let partner: SandboxPartner
beforeAll(async () => {
  partner = await sandbox.newPartner('--timezone', 'America/Chicago')
  // To the middle of the next month, because at a month's end changes for the boundary are refused.
  const today = new Date()
  const middle = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 10, 15)
  await sandbox.database.query(sql`
    update partners set clock_offset_ms = ${middle - today.getTime()} where partner_id = ${partner.partnerid}`)
})

function json<T>(...words: string[]) {
  return runJson<T>(words, sandbox.place)
}
async function text(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await run(words, sandbox.place)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return stdout
}
const instant = /\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} -0[56]:00/

test('who was refused is found by user show, with the request and the rules, and is forgotten by an erasure', async () => {
  type Shown = {
    user: { userid: string } | null
    refusedcreates: {
      at: string
      code: string
      requestid: string
      reasons: { field: string; code: string }[]
    }[]
  }
  const refuse = (userid: string) =>
    codeOf(partner.client.createUser({ userid, ...ada, state: 'NY', offername: 'top' }))
  expect(await refuse('refused')).toBe('ineligible')
  const show = () => json<Shown>('user', 'show', partner.partnerid, 'refused')
  const shownOnce = await vi.waitFor(show, soon)
  expect(shownOnce).toEqual({
    user: null,
    refusedcreates: [
      {
        at: expect.any(String),
        requestid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        code: 'ineligible',
        reasons: [{ field: expect.any(String), code: expect.any(String) }],
      },
    ],
  })
  const [{ requestid = '' } = {}] = shownOnce.refusedcreates
  expect(await text('user', 'show', partner.partnerid, 'refused')).toContain(`ineligible`)
  expect(await text('user', 'show', partner.partnerid, 'refused')).toContain(`request ${requestid}`)
  // Nothing of the person is kept, not even the name that was sent.
  const rows = await sandbox.database.query(sql`select * from refused_creates`)
  expect(JSON.stringify(rows)).not.toMatch(/refused"|canary|NY/i)

  // A body that does not match the description is recorded too, without names that the caller made up.
  const misshapen = { userid: 'misshapen', ...ada, offername: 'low', dob: 5, Adacanary: 1 } as never
  expect(await codeOf(partner.client.createUser(misshapen))).toBe('bad_request')
  const misread = await vi.waitFor(() => json<Shown>('user', 'show', partner.partnerid, 'misshapen'), soon)
  expect(misread.refusedcreates).toMatchObject([{ code: 'bad_request' }])
  expect(misread.refusedcreates[0]?.reasons.map(({ field }) => field).toSorted()).toEqual(['body', 'dob'])
  expect(JSON.stringify(await sandbox.database.query(sql`select * from refused_creates`))).not.toMatch(
    /misshapen|canary/i,
  )

  await partner.client.createUser({ userid: 'refused', ...ada, state: 'NY', offername: 'low' })
  expect(await show()).toMatchObject({ user: { userid: 'refused' }, refusedcreates: [{ requestid }] })
  await partner.client.eraseUser({ userid: 'refused' })
  expect(await sandbox.database.query(sql`select * from refused_creates`)).toHaveLength(1)
})

test('user show tells times in the zone that is asked for, also the partner’s own', async () => {
  await partner.client.createUser({ userid: 'zoned', ...ada, offername: 'low' })
  const shown = await text('user', 'show', partner.partnerid, 'zoned', '--timezone', 'partner')
  expect(shown).toMatch(new RegExp(`status .*\\(at ${instant.source}\\)`))
  expect(shown.split('Timeline')[1]).toMatch(instant)
  expect(shown).not.toMatch(/\dZ\b/)
  expect(await text('user', 'show', partner.partnerid, 'zoned', '--timezone', 'Asia/Kolkata')).toMatch(
    / \+05:30/,
  )
  expect(await text('user', 'show', partner.partnerid, 'zoned')).toMatch(/\dZ\b/)
})
