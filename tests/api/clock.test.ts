// @prism

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { listenTo } from './listener.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2027-03-10T15:00:00Z') }))

const ahead = '2027-05-01T12:00:00.000Z'

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

test('tokens live on real time: a clock that is a month ahead ends none', async () => {
  const { client, told } = listenTo(await service.newPartner())
  await client.advanceClock({ advanceto: ahead })
  await expect(client.getUser({ userid: 'nobody' })).rejects.toMatchObject({ status: 404 })
  // If the token had been refused, the client would have renewed it, and there would be one answer more.
  expect(told.map(({ status }) => status)).toEqual([200, 404])
})
