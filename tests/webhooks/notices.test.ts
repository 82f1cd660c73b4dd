import { expect, onTestFinished, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { disableEndpoint, enableEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

async function startOwn(): Promise<Receiver> {
  const receiver = await startReceiver()
  onTestFinished(() => receiver.close())
  return receiver
}

/** An endpoint that is told of, one that is told, and one that asks for something else; each gets its own events. */
async function withThree() {
  const rig = await dispatchRig()
  const [subject, told, other] = [await startOwn(), await startOwn(), await startOwn()]
  const { webhookid } = await rig.addEndpoint(subject.url)
  const names = ['webhook_failing', 'webhook_disabled', 'webhook_recovered'] as const
  await rig.addEndpoint(told.url, { events: names })
  await rig.addEndpoint(other.url, { events: ['user_erased'] })
  return { rig, subject, told, other, webhookid, dispatcher: rig.open() }
}

function namesAt(receiver: Receiver): string[] {
  return receiver.deliveries.map(one => one.eventname).filter(name => name.startsWith('webhook_'))
}

function noticesOf({ database }: DispatchRig) {
  return database.query<{ eventname: string; userid: string; data: object }>(
    sql`select eventname, userid, data from events where eventname like 'webhook%' order by position`,
  )
}

test('fifteen minutes after its breaker opened, and at its first success, the other endpoints are told of an endpoint, once each', async () => {
  const { rig, subject, told, other, webhookid, dispatcher } = await withThree()
  await using _ = rig
  subject.answer = () => 503
  await rig.raise(['a', 'b', 'c', 'd', 'e', 'f'])
  await dispatcher.idle()
  rig.advance(14 * 60_000)
  await dispatcher.idle()
  expect(namesAt(told)).toEqual([])
  for (const minutes of [2, 16, 16]) {
    rig.advance(minutes * 60_000)
    await dispatcher.idle()
  }
  expect(namesAt(told)).toEqual(['webhook_failing'])
  subject.answer = () => 200
  rig.advance(16 * 60_000)
  await dispatcher.idle()
  await rig.raise(['g'])
  await dispatcher.idle()
  expect(namesAt(told)).toEqual(['webhook_failing', 'webhook_recovered'])
  expect([namesAt(subject), other.deliveries]).toEqual([[], []])
  const since = expect.stringMatching(/^\d{4}-.*Z$/)
  expect(await noticesOf(rig)).toEqual([
    {
      eventname: 'webhook_failing',
      userid: 'webhook-notice',
      data: { webhookid, since, reason: 'endpoint' },
    },
    {
      eventname: 'webhook_recovered',
      userid: 'webhook-notice',
      data: { webhookid, since, reason: 'delivered' },
    },
  ])
  expect(JSON.parse(told.deliveries[0]?.body ?? '')).toEqual({
    userid: 'webhook-notice',
    eventname: 'webhook_failing',
    currentofferdetails: { offer: '', updatedat: since, serviceid: '00000000-0000-0000-0000-000000000000' },
  })
})

test('a 410 and the operator disable with a notice each, in the transaction that disables, and enabling ends with another', async () => {
  const { rig, subject, told, webhookid, dispatcher } = await withThree()
  await using _ = rig
  const named = { partnerId: rig.partner.partnerId, endpointId: webhookid }
  const enable = () => rig.database.transaction(tx => enableEndpoint(tx, named, rig.now()))
  const disable = () =>
    rig.database.transaction(tx => disableEndpoint(tx, named, { reason: 'operator', at: rig.now() }))
  subject.answer = () => 410
  await rig.raise(['a', 'b'])
  await dispatcher.idle()
  await enable()
  await disable()
  await disable()
  await enable()
  subject.answer = () => 200
  await dispatcher.idle()
  await dispatcher.idle()
  const reasons = (await noticesOf(rig)).map(({ eventname, data }) => [eventname, data])
  expect(reasons).toMatchObject([
    ['webhook_disabled', { webhookid, reason: 'gone' }],
    ['webhook_disabled', { webhookid, reason: 'operator' }],
    ['webhook_recovered', { webhookid, reason: 'delivered' }],
  ])
  expect(namesAt(told)).toEqual(reasons.map(([name]) => name))
})
