import type { ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { startTestService } from '../rig.ts'
import { startReceiver } from './receiver.ts'

test('an endpoint has 15 seconds to answer: what comes a millisecond before counts, and silence ends then', async () => {
  await using service = await startTestService()
  // Given back before the service ends.
  using _time = { [Symbol.dispose]: () => vi.useRealTimers() }
  const receiver = await startReceiver()
  const held: ServerResponse[] = []
  const ended = new Set<ServerResponse>()
  receiver.answer = () => response => {
    response.once('close', () => ended.add(response))
    held.push(response)
  }
  const partner = await service.newPartner()
  const credentials = { username: 'hook', password: 'pass' }
  await partner.client.createWebhook({ url: receiver.url, ...credentials, events: 'all' })
  const { dispatcher } = service.service()
  await dispatcher.idle()
  const outcomes = () =>
    service.database.query(sql`select status, error_class from delivery_attempts order by status`)
  // From here on time passes only where it is said.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await Promise.all(['quick', 'silent'].map(userid => partner.client.prefillUser({ userid })))
  dispatcher.refresh()
  await receiver.received(2)
  await vi.advanceTimersByTimeAsync(14_999)
  held[0]?.writeHead(200).end()
  await expect.poll(outcomes).toEqual([{ status: 200, error_class: null }])
  await vi.advanceTimersByTimeAsync(1)
  await expect.poll(() => ended.size).toBe(2)
  await expect
    .poll(async () => {
      // Results are written by a timer too.
      await vi.advanceTimersByTimeAsync(10)
      return outcomes()
    })
    .toEqual([
      { status: 200, error_class: null },
      { status: null, error_class: 'timeout' },
    ])
  await receiver.close()
})
