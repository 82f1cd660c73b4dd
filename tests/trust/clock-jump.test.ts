import { expect, test } from 'vitest'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'

const HOUR_MS = 3_600_000

test.each([
  ['ahead', 1],
  ['back', -1],
])('a system clock that jumps an hour %s harms no token, write, due change or delivery', async (_, way) => {
  await using service = await startTestService()
  const receiver = await startReceiver()
  const { client } = await service.newPartner()
  await client.createWebhook({ url: receiver.url, username: 'u', password: 'p', events: ['all'] })
  await client.createUser({ ...ada, userid: 'held', offername: 'starter', benefits: ['telehealth'] })
  service.advance(way * HOUR_MS)
  // Its token has either ended, and another is got, or still holds.
  expect(await client.prefillUser({ userid: 'u1' }, { idempotencyKey: 'k1' })).toBe('prefill saved')
  await client.cancelUser({ userid: 'held', effective: 'immediate' })
  expect(await client.getUser({ userid: 'held' })).toMatchObject({ status: 'cancelled' })
  expect(await client.getBenefits({ userid: 'u1', ...adaAsks })).not.toEqual([])
  service.advance(-way * HOUR_MS)
  await client.reinstateUser({ userid: 'held' })
  expect(await client.getUser({ userid: 'held' })).toMatchObject({ status: 'active' })
  const { events } = await client.listEvents({})
  await expect
    .poll(() => new Set(receiver.deliveries.map(({ headers }) => headers['idempotency-key'])), {
      timeout: 30_000,
    })
    .toEqual(new Set(events.map(({ eventid }) => eventid)))
  await receiver.close()
})
