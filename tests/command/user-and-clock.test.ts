import { beforeEach, describe, expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { wholeLog } from '../whole-log.ts'
import { run, runJson } from './process.ts'
import { type SandboxPartner, startSandbox } from './sandbox.ts'

const sandbox = forAllTests(startSandbox)
let partner: SandboxPartner
beforeEach(async () => {
  partner = await sandbox.newPartner()
  // To the middle of the next month, because at a month's end changes for the boundary are refused.
  const today = new Date()
  const middle = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() + 1, 10, 15)
  await sandbox.database.query(sql`
    update partners set clock_offset_ms = ${middle - today.getTime()} where partner_id = ${partner.partnerid}`)
})

const nobody = '01890000-0000-7000-8000-000000000000'
type Standing = { kind: string; name: string; held: boolean; against: { code: string; why: string }[] }
type Shown = {
  now: string
  user: { userid: string; serviceid: string; status: string; conditions: string[]; benefits: object[] }
  timeline: {
    attimestamp: string
    what: string
    from: string
    to: string
    who: string
    why: string
  }[]
  whynot: Standing[]
}
function show(userid: string) {
  return runJson<Shown>(['user', 'show', partner.partnerid, userid], sandbox.place)
}
function linesOf({ timeline }: Shown) {
  return timeline.map(({ what, from, to, who, why }) => `${what}: ${from}>${to} ${who}, ${why}`)
}
function advance(...words: string[]) {
  return runJson<{ partnerid: string; now: string }>(
    ['clock', 'advance', partner.partnerid, ...words],
    sandbox.place,
  )
}

/** An active user on `mid` in New York with a pending downgrade; returns its boundary. */
async function makeUser(userid: string): Promise<string> {
  const { client } = partner
  await client.prefillUser({ userid, firstname: 'Ada' })
  await client.createUser({ userid, ...ada, state: 'NY', offername: 'mid', benefits: ['art'] })
  const { pendingoffer } = await client.changeOffer({ userid, offername: 'low' })
  return pendingoffer?.effectiveattimestamp ?? ''
}

describe('user show', () => {
  test('tells what happened and what is to come, with who and why, and which rules decided', async () => {
    const boundary = await makeUser('u')
    const shown = await show('u')
    expect(shown.user).toMatchObject({ userid: 'u', status: 'active', conditions: ['offerchangepending'] })
    expect(linesOf(shown)).toEqual([
      'user: none>prefilled partner, prefill',
      'prefill: >stored partner, prefill',
      'user: prefilled>active partner, create',
      'prefill: stored> partner, create',
      'offer: >mid partner, create',
      'benefit base: >enrolled partner, create',
      'benefit art: >enrolled partner, create',
      'pending offer: >low partner, offer change',
      'offer: mid>low schedule, offer change',
    ])
    const instants = shown.timeline.map(line => line.attimestamp)
    expect(instants).toEqual([...instants].sort())
    expect(instants.at(-1)).toBe(boundary)
    expect(instants.filter(at => at > shown.now)).toEqual([boundary])
    // Why is this person not enrolled in extra, and cannot get onto top? They live in New York.
    const why = (name: string) => shown.whynot.find(one => one.name === name)?.against.map(({ code }) => code)
    expect([why('top'), why('extra'), why('teeth')]).toEqual([
      ['offer_state'],
      ['state_left_out'],
      ['state_left_out'],
    ])
    expect(shown.whynot.filter(one => one.held).map(({ name }) => name)).toEqual(['mid', 'base', 'art'])
    expect(JSON.stringify(shown)).not.toMatch(/canary/i)
  })

  wholeRunTest('says the same to people, what lies ahead marked', async () => {
    const boundary = await makeUser('u')
    const { code, stdout, stderr } = await run(['user', 'show', partner.partnerid, 'u'], sandbox.place)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^user {8}u\nserviceid {3}[0-9a-f-]{36}\nstatus {6}active, offerchangepending /)
    expect(stdout).toContain(`next offer  low from ${boundary}`)
    expect(stdout).toContain(`${boundary}  (ahead) offer: mid → low   by schedule, offer change`)
    expect(stdout).toMatch(/^ {2}offer +top +closed\n {4}offer_state: /m)
    expect(stdout).toMatch(/^ {2}benefit +art +held$/m)
    expect(stdout).not.toMatch(/canary/i)
  })

  wholeRunTest('shows one who is only prefilled; without all the data no rules are tried', async () => {
    await partner.client.prefillUser({ userid: 'sent', firstname: 'Ada' })
    const shown = await show('sent')
    expect(shown).toMatchObject({ user: { status: 'prefilled', benefits: [] } })
    expect(linesOf(shown).at(-1)).toBe('prefill: stored> schedule, prefill expires')
    const { stdout } = await run(['user', 'show', partner.partnerid, 'sent'], sandbox.place)
    expect(stdout).toContain('not_tried: Birth date, state, ZIP code are not known, so no rule was tried')
  })

  test('of an erased user shows the history and nothing of the person', async () => {
    await makeUser('gone')
    await partner.client.eraseUser({ userid: 'gone' })
    const shown = await show('gone')
    expect(shown).toMatchObject({ user: { status: 'erased', conditions: [] }, whynot: [] })
    const lines = linesOf(shown)
    expect(lines).toContain('user: prefilled>active partner, create')
    expect(lines).toContain('user: active>erased partner, erase')
    expect(shown.timeline.filter(line => line.attimestamp > shown.now)).toEqual([])
  })

  test('an unknown user or partner is said in a sentence', async () => {
    await makeUser('u')
    const noUser = /^This partner has no user of that userid: check the letter case/
    expect(await sandbox.refusal('user', 'show', partner.partnerid, 'U')).toMatch(noUser)
    const other = await sandbox.newPartner()
    expect(await sandbox.refusal('user', 'show', other.partnerid, 'u', '--json')).toMatch(noUser)
    for (const id of [nobody, 'nonsense'])
      expect(await sandbox.refusal('user', 'show', id, 'u')).toBe(
        `There is no partner ${id}: see \`enrolment partner list\`.`,
      )
    expect(await sandbox.refusal('user', 'show', partner.partnerid)).toMatch(/needs PARTNER and USERID/)
  })
})

describe('clock advance', () => {
  test('applies everything due on the way, in order, while the service runs', async () => {
    const { client } = partner
    const boundary = await makeUser('u')
    await client.createUser({ userid: 'v', ...ada, offername: 'low', benefits: ['art'] })
    await client.swapBenefits({ userid: 'v', add: ['care'], remove: ['art'] })
    const before = await wholeLog(client)
    const to = new Date(Date.parse(boundary) + 100 * 86_400_000).toISOString()
    const { now, partnerid } = await advance(to)
    expect(partnerid).toBe(partner.partnerid)
    expect(Date.parse(now) - Date.parse(to)).toBeGreaterThanOrEqual(0)
    const events = (await wholeLog(client)).events.slice(before.events.length)
    const told = events.map(({ userid, eventname, body }) => {
      const { offer, updatedat } = body.currentofferdetails
      return [userid, eventname, offer, ...(userid === 'u' ? [updatedat] : [])]
    })
    expect(told.filter(([userid]) => userid === 'u')).toEqual([
      ['u', 'offer_downgrade_successful', 'low', boundary],
      ['u', 'offer_activiation_successful', 'low', boundary],
    ])
    expect(told.filter(([userid]) => userid === 'v')).toEqual([['v', 'user_benefits_swap_successful', 'low']])
    expect(await client.getUser({ userid: 'u' })).toMatchObject({
      conditions: [],
      currentofferdetails: { offer: 'low', updatedat: boundary },
    })
    // It happened in the past now, at its own date.
    expect((await show('u')).timeline.at(-1)).toMatchObject({ attimestamp: boundary, who: 'schedule' })
  })

  wholeRunTest('moves one partner only, and says so to people', async () => {
    const boundary = await makeUser('u')
    const other = await sandbox.newPartner()
    const instant = boundary.replace('.000Z', 'Z')
    const { code, stdout } = await run(['clock', 'advance', other.partnerid, instant], sandbox.place)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^The clock of Partner shows \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z; what was due is applied\.\n$/,
    )
    expect(await partner.client.getUser({ userid: 'u' })).toMatchObject({
      conditions: ['offerchangepending'],
    })
  })

  test('backwards, too far, no instant, no partner: refused in a sentence', async () => {
    const { now } = await advance(new Date(Date.now() + 3650 * 86_400_000).toISOString())
    const refused = (to: string) => sandbox.refusal('clock', 'advance', partner.partnerid, to)
    const day = 86_400_000
    const earlier = new Date(Date.parse(now) - day).toISOString()
    expect(await refused(earlier)).toMatch(
      /^The clock of this partner shows \d{4}-.*Z already, and it only goes forward: give a later instant\.$/,
    )
    expect(await refused(new Date(Date.now() + 8000 * day).toISOString())).toBe(
      'The clock can be at most twenty years ahead of real time: give an earlier instant.',
    )
    for (const to of ['tomorrow', '2026-02-30T00:00:00Z'])
      expect(await refused(to)).toMatch(/^The instant must look like 2026-12-01T05:00:00Z, in UTC/)
    expect(await sandbox.refusal('clock', 'advance', nobody, earlier)).toMatch(/^There is no partner/)
    expect(await sandbox.refusal('clock', 'advance', partner.partnerid)).toMatch(
      /needs PARTNER and TIMESTAMP/,
    )
  })
})
