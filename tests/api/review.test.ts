// @prism

import { expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { holdUsers, testInTime } from '../hold-users.ts'
import { ada, startTestService } from '../rig.ts'
import { listenTo } from './listener.ts'
import { refusalOf } from './refusal.ts'

const service = forAllTests(startTestService)

testInTime('a user who is held by somebody else holds up nobody else', async () => {
  const held = await service.newPartner()
  const other = await service.newPartner()
  await held.client.prefillUser({ userid: 'u1', ...ada })
  const holder = await holdUsers(service, held)
  const waiting = held.client.prefillUser({ userid: 'u1', ...ada, firstname: 'Eve' })
  let isWaiting = true
  void waiting.finally(() => {
    isWaiting = false
  })
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => other.client.prefillUser({ userid: `n${n}`, ...ada })),
  )
  expect(isWaiting).toBe(true)
  await holder.release()
  expect(await waiting).toBe('prefill saved')
})

test('a previewid that was never given out is stale', async () => {
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  const previewid = Buffer.concat([Buffer.alloc(8, 255), Buffer.alloc(32)]).toString('base64url')
  await expect(client.changeOffer({ userid: 'u1', offername: 'plus', previewid })).rejects.toMatchObject({
    status: 422,
    code: 'preview_stale',
  })
})

test('the 24 hours of a keyed answer are real time, whatever the clock of the sandbox shows', async () => {
  const { client } = await service.newPartner()
  const request = { userid: 'u1', ...ada, offername: 'starter' }
  const first = await client.createUser(request, { idempotencyKey: 'k1' })
  await client.advanceClock({ advanceto: new Date(service.now() + 3 * 86_400_000).toISOString() })
  expect(await client.createUser(request, { idempotencyKey: 'k1' })).toEqual(first)
})

test('a partner with a limit is told it, and refused beyond it until the time that Retry-After names', async () => {
  const partner = await service.newPartner({ ratePerSecond: 2 })
  const { client, told } = listenTo(partner)
  const calls = Array.from({ length: 20 }, () => refusalOf(client.getUser({ userid: 'u' })))
  const refused = (await Promise.all(calls)).filter(({ code }) => code === 'too_many_requests')
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]).toMatchObject({ status: 429, retryAfterMs: 1000 })
  for (const { headers } of told) expect(headers.get('ratelimit-policy')).toBe('"default";q=2;w=1')
  service.advance(2000)
  expect(await refusalOf(client.getUser({ userid: 'u' }))).toMatchObject({ status: 404 })
})
