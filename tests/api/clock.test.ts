import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestPartner } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { listenTo } from './listener.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const ahead = '2027-05-01T12:00:00.000Z'

test('the clock goes forward for one partner only, and what is due on the way is applied in order', async () => {
  const [mine, other] = [await service.newPartner(), await service.newPartner()]
  for (const partner of [mine, other]) {
    await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter', benefits: ['dental'] })
    await partner.client.swapBenefits({ userid: 'u1', add: ['vision'], remove: ['dental'] })
  }
  const { now } = await mine.client.advanceClock({ advanceto: ahead })
  expect(Math.abs(Date.parse(now) - Date.parse(ahead))).toBeLessThan(60_000)
  const names = async (partner: TestPartner) =>
    (await eventsOf(service, partner)).map(({ eventname }) => eventname)
  expect(await names(mine)).toContain('user_benefits_swap_successful')
  expect(await names(other)).not.toContain('user_benefits_swap_successful')
})

test('a repeat with its key gets the first answer, although that time is past by then', async () => {
  const { client, last } = listenTo(await service.newPartner())
  const first = await client.advanceClock({ advanceto: ahead }, { idempotencyKey: 'k1' })
  service.advance(1000)
  expect(await client.advanceClock({ advanceto: ahead }, { idempotencyKey: 'k1' })).toEqual(first)
  expect(last().replayed).toBe(true)
  const later = { advanceto: '2027-06-01T00:00:00.000Z' }
  await expect(client.advanceClock(later, { idempotencyKey: 'k1' })).rejects.toMatchObject({
    code: 'idempotency_key_reused',
  })
})

test.each(['2027-03-09T00:00:00.000Z', '2060-01-01T00:00:00.000Z', '2027-03-20', 'soon', ''])(
  '"%s" is refused: backwards, too far, or no timestamp',
  async advanceto => {
    const { client } = await service.newPartner()
    await expect(client.advanceClock({ advanceto })).rejects.toMatchObject({
      status: 400,
      errors: [{ field: 'advanceto' }],
    })
  },
)

test('tokens live on real time: a clock that is a month ahead ends none', async () => {
  const { client, told } = listenTo(await service.newPartner())
  await client.advanceClock({ advanceto: ahead })
  await expect(client.getUser({ userid: 'nobody' })).rejects.toMatchObject({ status: 404 })
  // If the token had been refused, the client would have renewed it, and there would be one answer more.
  expect(told.map(({ status }) => status)).toEqual([200, 404])
})
