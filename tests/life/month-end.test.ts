import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { instant, type Stage, type StagePartner, startStage } from './stage.ts'

// The end of October 2026: in New York and Saint John's summer time ends on November 1, in Madrid it ended a week
// before, in Auckland it began a month before.
const zones = [
  { zone: 'Pacific/Auckland', boundary: '2026-10-31T11:00:00.000Z', next: '2026-11-30T11:00:00.000Z' },
  { zone: 'Europe/Madrid', boundary: '2026-10-31T23:00:00.000Z', next: '2026-11-30T23:00:00.000Z' },
  { zone: 'America/St_Johns', boundary: '2026-11-01T02:30:00.000Z', next: '2026-12-01T03:30:00.000Z' },
  { zone: 'America/New_York', boundary: '2026-11-01T04:00:00.000Z', next: '2026-12-01T05:00:00.000Z' },
]
const count = 40

let stage: Stage
const partners: (StagePartner & (typeof zones)[number])[] = []
beforeAll(async () => {
  stage = await startStage('2026-10-20T12:00')
  for (const one of zones) partners.push({ ...(await stage.newPartner(one.zone)), ...one })
})
afterAll(() => stage[Symbol.asyncDispose]())

const userids = Array.from({ length: count }, (_, index) => `u${index}`)

test('comes in each zone at its own instant, once, though the service is stopped in the middle', async () => {
  await Promise.all(
    partners.flatMap(partner =>
      userids.map(async userid => {
        await partner.create(userid, { offername: 'mid', benefits: ['art', 'books'] })
        const change = await partner.client.changeOffer({ userid, offername: 'low' })
        expect(change.pendingoffer?.effectiveattimestamp).toBe(partner.boundary)
        await partner.client.swapBenefits({ userid, add: ['care'], remove: ['art'] })
      }),
    ),
  )
  for (const { boundary } of zones) {
    const { service } = stage
    vi.setSystemTime(instant(boundary) - 1)
    await service.service().runDue()
    expect(await changed()).toEqual(expected(instant(boundary) - 1))
    vi.setSystemTime(instant(boundary))
    const running = service.service().runDue()
    await service.restart()
    await running
    await service.service().runDue()
    expect(await changed()).toEqual(expected(instant(boundary)))
  }
  for (const partner of partners) {
    const connected = partner.connect()
    const user = await connected.getUser({ userid: 'u7' })
    if (user.status === 'erased') throw new Error('erased')
    expect(user.currentofferdetails).toMatchObject({ offer: 'low', updatedat: partner.boundary })
    expect(
      user.benefits.map(one => [one.name, one.state, one.startsattimestamp, one.endsattimestamp]),
    ).toMatchObject([
      ['base', 'enrolled', expect.any(String), null],
      ['extra', 'ended', expect.any(String), partner.boundary],
      ['art', 'ended', expect.any(String), partner.boundary],
      ['books', 'enrolled', expect.any(String), null],
      ['care', 'enrolled', partner.boundary, null],
    ])
    const swap = await connected.swapBenefits({
      userid: 'u7',
      add: ['art'],
      remove: ['care'],
      previewonly: true,
    })
    expect(swap.boundarytimestamp).toBe(partner.next)
  }
})

/** How many users of each zone had their events of the month's end. */
const changed = async (): Promise<Record<string, number[]>> => {
  const rows = await stage.service.database.query<{
    partner_id: string
    eventname: string
    count: number
  }>(sql`
    select partner_id, eventname, count(*) as count from events
    where eventname in ('offer_downgrade_successful', 'user_benefits_swap_successful') group by 1, 2 order by 1, 2`)
  return Object.fromEntries(
    partners.map(({ zone, partnerId }) => [
      zone,
      rows.filter(row => row.partner_id === partnerId).map(row => row.count),
    ]),
  )
}
const expected = (now: number) =>
  Object.fromEntries(
    zones.map(({ zone, boundary }) => [zone, instant(boundary) <= now ? [count, count] : []]),
  )
