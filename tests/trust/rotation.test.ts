// @databases citus

import { expect, test, vi } from 'vitest'
import { webhooks } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { type Delivery, startReceiver } from '../webhooks/receiver.ts'
import { openJournal } from './journal.ts'
import { arrivedIn, checkLedger } from './ledger.ts'

// The credentials and the secret of a webhook are replaced while events pour in; `exchange.test.ts` does so with client
// secret, API key, root key and pepper.

const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner())
const receiver = forAllTests(startReceiver)

function basic(password: string): string {
  return `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`
}

test('password and secret of a webhook replaced again and again under load: each event arrives at its first attempt, signed for whom it is sent to', async () => {
  const { webhookid, webhooksecret = '' } = await partner.client.createWebhook({
    url: receiver.url,
    username: 'hook',
    password: 'password-0',
    events: ['all'],
  })
  // What the partner's receiver accepts; as in life, it changes some time after the service does.
  let password = 'password-0'
  let secret = webhooksecret
  // For one event it does not change its mind between the two requests of an attempt, which would only cost that event a
  // second attempt.
  const wanted = new Map<string, string>()
  receiver.answer = ({ key, authorization }: Delivery) => {
    wanted.set(key, wanted.get(key) ?? basic(password))
    return authorization === wanted.get(key) ? 200 : 401
  }
  const load = openJournal([partner.client], { writers: 6, name: 'w', pauseMs: 0 })
  const more = async (events: number) => {
    const until = receiver.deliveries.length + events
    await vi.waitFor(() => expect(receiver.deliveries.length).toBeGreaterThan(until), { timeout: 120_000 })
  }
  const secretAt = new Map<number, string>()
  const use = (next: string) => {
    secret = next
    secretAt.set(receiver.deliveries.length, next)
  }
  use(secret)
  for (const round of [1, 2, 3]) {
    await more(20)
    await partner.client.updateWebhook({ webhookid, password: `password-${round}` })
    const { webhooksecret: newer = '' } = await partner.client.updateWebhook({
      webhookid,
      rotatesecret: true,
    })
    // More deliveries than can be under way at once, so that none signed with the old secret arrives after the change.
    await more(100)
    password = `password-${round}`
    use(newer)
    await more(20)
  }
  await load.stop()
  await service.service().dispatcher.idle()
  await checkLedger({
    journal: load,
    receiver: arrivedIn(receiver.deliveries),
    database: service.database,
    partnerId: partner.partnerId,
    logs: JSON.stringify(service.logged),
  })
  // A refusal of new credentials is followed at once by the present ones: nothing waits for a second attempt.
  expect(receiver.deliveries.filter(({ attempt }) => attempt !== 1)).toEqual([])
  const attempts = await service.database.query<{ statuses: number[] }>(sql`
    select array_agg(a.status order by a.started_at, a.attempt_id) as statuses from delivery_attempts a
    where a.partner_id = ${partner.partnerId} group by a.event_id`)
  expect(attempts.filter(({ statuses }) => statuses.at(-1) !== 200)).toEqual([])
  expect(attempts.some(({ statuses }) => statuses[0] === 401)).toBe(true)
  // Each was signed by the secret that its receiver had at that moment.
  let known = ''
  for (const [index, delivery] of receiver.deliveries.entries()) {
    known = secretAt.get(index) ?? known
    await webhooks.verify(
      { headers: delivery.headers, body: delivery.body },
      { secret: known, now: service.now() },
    )
  }
})
