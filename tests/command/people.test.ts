import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { makePeople } from '../../cli/src/people.ts'
import type { PartnerClient } from '../../client/src/index.ts'
import { adaAsks as asks, startTestService } from '../rig.ts'
import { run, runJson, runRefused } from './process.ts'

const startAt = Date.parse('2026-11-12T15:00:00Z')

test('the people of a sandbox have the outcomes that the guide tells, and have them again after a reset', async () => {
  await using service = await startTestService({ startAt })
  const { client, clientId, clientSecret, apiKey } = await service.newPartner()
  const env = { BASE_URL: service.baseUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, API_KEY: apiKey }
  const statuses = async () => {
    const { people } = await runJson<{ people: { userid: string; status: string | null }[] }>(
      ['people', 'list'],
      { env },
    )
    return Object.fromEntries(people.map(({ userid, status }) => [userid, status]))
  }
  expect(new Set(Object.values(await statuses()))).toEqual(new Set([null]))
  for (const wrong of ['', `${apiKey}x`])
    expect(await runRefused(['people', 'list'], { env: { ...env, API_KEY: wrong } })).toMatch(
      /^getUser was refused: invalid_api_key\./,
    )

  for (const round of [1, 2]) {
    expect(await runJson(['people', 'reset'], { env })).toMatchObject({ refused: [] })
    expect(await statuses()).toEqual({
      'person-eligible': 'prefilled',
      'person-enrolled': 'active',
      'person-swap-pending': 'active',
      'person-with-partner': 'active',
      'person-spouse-removed': 'active',
      'person-child-ages-out': 'active',
      'person-wrong-state': 'prefilled',
      'person-too-young': 'prefilled',
      'person-erased': 'erased',
      'person-webhook-fails': 'active',
    })
    const enrolled = (await client.getBenefits({ userid: 'person-enrolled', ...asks }))
      .filter(({ status }) => status === 'enrolled')
      .map(({ name }) => name)
    expect(enrolled).toEqual(['accident', 'telehealth', 'dental'])
    const swapping = await client.getBenefits({ userid: 'person-swap-pending', ...asks })
    expect(swapping.filter(one => one.isselectedforswap).map(({ name }) => name)).toEqual([
      'dental',
      'vision',
    ])
    const listed = async (userid: string, more: Partial<typeof asks> | object) =>
      (await client.getBenefits({ userid, ...asks, ...more })).length
    expect(await dentalOf(client, 'person-with-partner')).toMatchObject({ tier: 'mespouse' })
    expect(await dentalOf(client, 'person-spouse-removed')).toMatchObject({
      tier: 'mespouse',
      pendingcover: { tier: 'me', effectiveattimestamp: '2026-12-01T05:00:00.000Z' },
    })
    const all = await listed('person-eligible', {})
    expect(await listed('person-wrong-state', { state: 'NY', zipcode: '10001' })).toBe(all - 4)
    expect(await listed('person-too-young', { age: 11 })).toBe(0)
    for (const [userid, offername] of [
      ['person-wrong-state', 'premier'],
      ['person-too-young', 'starter'],
    ] as const)
      await expect(client.createUser({ userid, offername })).rejects.toMatchObject({ code: 'ineligible' })
    await expect(client.getBenefits({ userid: 'person-erased', ...asks })).rejects.toMatchObject({
      code: 'user_not_found',
    })
    const { events } = await client.listEvents({ userid: 'person-webhook-fails' })
    const failing = events.filter(({ eventname }) => eventname === 'offer_reinstate_successful')
    expect(failing.length).toBe(round)
    await expect
      .poll(
        async () => (await client.listAttempts({ eventid: failing.at(-1)?.eventid ?? '' })).attempts.length,
      )
      .toBeGreaterThan(0)
    const { attempts } = await client.listAttempts({ eventid: failing.at(-1)?.eventid ?? '' })
    expect(attempts[0]).toMatchObject({ attempt: 1, status: null, error: expect.any(String) })
    // A visitor's change, which a reset undoes.
    await client.createUser({ userid: 'person-eligible', offername: 'starter' })
    await client.cancelUser({ userid: 'person-enrolled', effective: 'immediate' })
  }
  expect((await client.listWebhooks({})).webhooks).toHaveLength(1)
})

/** The dental benefit of a user. */
async function dentalOf(client: PartnerClient, userid: string) {
  const user = await client.getUser({ userid })
  return user.status === 'erased' ? undefined : user.benefits.find(({ name }) => name === 'dental')
}

test('on any day of any year the cover of the child ends with the next month of the partner’s calendar', async () => {
  await using service = await startTestService({ startAt })
  for (const [now, ends, timezone = 'America/New_York'] of [
    ['2026-12-01T04:30', '2027-01-01T05:00'],
    ['2028-01-31T12:00', '2028-03-01T05:00'],
    ['2028-02-29T20:00', '2028-04-01T04:00'],
    ['2028-12-31T20:00', '2029-02-01T05:00'],
    ['2027-04-30T15:30', '2027-06-30T15:00', 'Asia/Tokyo'],
  ]) {
    const { client } = await service.newPartner({ timezone })
    await client.advanceClock({ advanceto: `${now}:00.000Z` })
    await makePeople(client, 'all')
    expect(await dentalOf(client, 'person-child-ages-out')).toMatchObject({ tier: 'mechildren' })
    const { dependants } = await client.getDependants({ userid: 'person-child-ages-out' })
    const benefits = [{ name: 'dental', state: 'endscheduled', endsattimestamp: `${ends}:00.000Z` }]
    expect([now, dependants]).toMatchObject([now, [{ benefits }]])
  }
})

test('the guide says of each age and state what the list lacks', async () => {
  await using service = await startTestService({ startAt })
  const { client } = await service.newPartner()
  await client.prefillUser({ userid: 'u' })
  const guide = await readFile(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')
  const rows = [...guide.matchAll(/^\| (\d+), ([A-Z]{2}) \| (.+) \|$/gm)]
  const all = await client.getBenefits({ userid: 'u', ...asks })
  expect(rows.length).toBe(4)
  for (const [row, age, state, said = ''] of rows) {
    const request = { userid: 'u', ...asks, age: Number(age), state } as Parameters<
      typeof client.getBenefits
    >[0]
    const listed = (await client.getBenefits(request)).map(({ name }) => name)
    const lacking = all.filter(({ name }) => !listed.includes(name))
    const unsaid = lacking.filter(one => !said.includes(`no ${one.displayname.toLowerCase()}`))
    expect([row, said.startsWith('nothing') ? listed : unsaid]).toEqual([row, []])
  }
})

test('on the last day of a month the others are made, and the swap that is locked is told', async () => {
  await using service = await startTestService({ startAt: Date.parse('2026-11-30T22:00:00Z') })
  const { clientId, clientSecret, apiKey } = await service.newPartner()
  const env = { BASE_URL: service.baseUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, API_KEY: apiKey }
  const { code, stdout } = await run(['people', 'reset'], { env })
  expect(code).toBe(0)
  for (const userid of ['person-swap-pending', 'person-spouse-removed'])
    expect(stdout).toContain(`${userid} has no change pending (change_locked)`)
})
