import type { ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { startTestService } from '../rig.ts'
import { startReceiver } from './receiver.ts'

test('an endpoint has 15 seconds to answer: an answer a millisecond earlier counts, and silence is cut off', async () => {
  await using service = await startTestService()
  // Real timers are restored before the service ends.
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
  await partner.client.createWebhook({ url: receiver.url, ...credentials, events: ['all'] })
  const { dispatcher } = service.service()
  await dispatcher.idle()
  const outcomes = async () => {
    const rows = await service.database.query<{ outcome: string }>(
      sql`select coalesce(status::text, error_class) as outcome from delivery_attempts order by outcome`,
    )
    return rows.map(row => row.outcome).join(' ')
  }
  // From here on time passes only when the test moves it.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  await Promise.all(['quick', 'silent'].map(userid => partner.client.prefillUser({ userid })))
  await until(async () => {
    // Requested again, because no look for what is due comes by itself.
    dispatcher.refresh()
    return receiver.deliveries.length === 2
  })
  await vi.advanceTimersByTimeAsync(14_999)
  held[0]?.writeHead(200).end()
  await until(async () => (await outcomes()) !== '')
  expect(await outcomes()).toBe('200')
  await vi.advanceTimersByTimeAsync(1)
  await until(async () => ended.size === 2)
  await until(async () => {
    // A timer also writes the results.
    await vi.advanceTimersByTimeAsync(10)
    return (await outcomes()) !== '200'
  })
  expect(await outcomes()).toBe('200 timeout')
  await receiver.close()
})

/** Waits without moving time; `expect.poll` would move it. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise(resolve => setImmediate(resolve))
}
