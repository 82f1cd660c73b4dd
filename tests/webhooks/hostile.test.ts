import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { flood, reply, type Script, startEndpoint } from '../egress/endpoint.ts'
import { wholeRunTest } from '../long.ts'
import { goByTicks } from '../ticks.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

function onRequest(answer: (socket: Socket) => void): Script {
  return { onRequest: answer }
}
const head = 'HTTP/1.1 200 OK\r\n'

/**
 * An endpoint for each way in which one attempt can end, and whether its event counts as delivered: the status decides, even when
 * the body stalls. tests/egress has all that an endpoint might do.
 */
const hostile: Record<string, { script: Script; isDelivered: boolean; isFlood?: boolean }> = {
  'says nothing': { script: {}, isDelivered: false },
  'sends 100 MB': {
    script: onRequest(socket => {
      socket.write(`${head}content-length: 104857600\r\n\r\n`)
      flood(socket, Buffer.alloc(65_536))
    }),
    isFlood: true,
    isDelivered: true,
  },
  'redirects to the metadata service': {
    script: onRequest(socket => socket.write(reply('302 Found', '', ['location: http://169.254.169.254/']))),
    isDelivered: false,
  },
  'resets in the body': {
    script: onRequest(socket => {
      socket.write(`${head}content-length: 100\r\n\r\nhalf`)
      setTimeout(() => socket.resetAndDestroy(), 20)
    }),
    isDelivered: true,
  },
  'wants us back in 30,000 years': {
    script: onRequest(socket => socket.write(reply('503 Later', '', ['retry-after: 1e12']))),
    isDelivered: false,
  },
}

wholeRunTest(
  'hostile endpoints end as what they are, in time, and the healthy one beside them gets everything',
  async () => {
    goByTicks()
    await using rig = await dispatchRig()
    const receiver = await startReceiver()
    const names = new Map<string, string>()
    const targets = []
    for (const [name, { script, isFlood }] of Object.entries(hostile)) {
      const target = await startEndpoint(script)
      targets.push(target)
      // This process itself sends the floods, which keep it from its other work, so once is enough.
      const events = isFlood ? (['user_erased'] as const) : 'all'
      names.set((await rig.addEndpoint(target.url, { events })).webhookid, name)
    }
    await rig.addEndpoint(receiver.url)
    const dispatcher = rig.open({ slots: 32 }, { deadlineMs: 5000 })
    await rig.raise(['u0'], { eventname: 'user_erased' })
    await dispatcher.idle()
    const waiting = await rig.database.query<{ endpoint_id: string }>({
      name: '',
      text: 'select endpoint_id from deliveries',
      values: [],
    })
    const failed = new Set(waiting.map(row => names.get(row.endpoint_id)))
    expect([...failed].sort()).toEqual(
      Object.entries(hostile)
        .filter(([, { isDelivered }]) => !isDelivered)
        .map(([name]) => name)
        .sort(),
    )
    // Each keeps its slots busy; the others serve the healthy one.
    await rig.raise(Array.from({ length: 200 }, (_, index) => `w${index}`))
    dispatcher.nudge()
    await receiver.received(201)
    expect(new Set(receiver.deliveries.map(one => one.key)).size).toBe(201)
    const [longest] = await rig.database.query<{ ms: number }>({
      name: '',
      text: 'select max(total_ms) as ms from delivery_attempts',
      values: [],
    })
    expect(longest?.ms).toBeLessThan(10_000)
    const sent = targets.map(target => target.sent())
    expect(Math.max(...sent)).toBeLessThan(20 * 1024 * 1024)
    await receiver.close()
    for (const target of targets) await target.close()
  },
)

test('an endpoint that has never answered gets five attempts before its breaker opens, however many events wait', async () => {
  goByTicks()
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = () => () => {}
  await rig.addEndpoint(receiver.url)
  const dispatcher = rig.open({}, { deadlineMs: 500 })
  await rig.raise(Array.from({ length: 200 }, (_, index) => `u${index}`))
  await dispatcher.idle()
  expect(receiver.deliveries).toHaveLength(5)
  await receiver.close()
})

test('hanging attempts and a failure beside them delay nothing for an endpoint that has accepted events before', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  // An attempt that hangs must not reach the deadline, on however slow a machine.
  const dispatcher = rig.open({}, { deadlineMs: 600_000 })
  await rig.raise(['known'])
  await dispatcher.idle()
  receiver.answer = ({ userid }) =>
    userid.startsWith('hang') ? () => {} : userid.startsWith('bad') ? 503 : 200
  await rig.raise(Array.from({ length: 5 }, (_, index) => `hang-${index}`))
  dispatcher.nudge()
  await receiver.received(6)
  await rig.raise(['bad-0', 'bad-1', 'bad-2', 'bad-3'])
  dispatcher.nudge()
  await receiver.received(10)
  await expect.poll(() => rig.count('delivery_attempts')).toBe(5)
  await rig.raise(Array.from({ length: 20 }, (_, index) => `good-${index}`))
  dispatcher.nudge()
  await receiver.received(30)
  await receiver.close()
})

test('an endpoint that is dead with fifty thousand waiting does not delay the others', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint('http://127.0.0.1:1/hook')
  await rig.addEndpoint(receiver.url, { events: ['user_erased'] })
  for (let part = 0; part < 10; part += 1)
    await rig.database.query({
      name: '',
      text: `with raised as (
        insert into events (partner_id, position, event_id, service_id, userid, eventname, body, created_at)
        select $1, n, gen_random_uuid(), gen_random_uuid(), 'u', 'user_update_successful', '{}', $3
        from generate_series($4::integer + 1, $4::integer + 5000) as n
        returning partner_id, event_id, service_id, position, created_at),
      head as (update event_log_heads set last = $4::integer + 5000 where partner_id = $1)
      insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at)
      select partner_id, event_id, $2, service_id, position, created_at, created_at from raised`,
      values: [rig.partner.partnerId, webhookid, new Date(rig.now()).toISOString(), part * 5000],
    })
  const looks: Parameters<Database['query']>[0][] = []
  const database: Database = {
    ...rig.database,
    query: query => {
      if (query.text.includes('with ask as materialized')) looks.push(query)
      return rig.database.query(query)
    },
  }
  const dispatcher = rig.open({}, { database })
  await dispatcher.idle()
  for (let round = 0; round < 20; round += 1) {
    await rig.raise(['u'], { eventname: 'user_erased' })
    dispatcher.nudge()
    await receiver.received(round + 1)
  }
  // Reading the head (a thousand rows at most) touches a few thousand pages; walking the backlog would touch hundreds
  // of thousands.
  expect(looks.length).toBeGreaterThan(20)
  for (const look of looks) expect(await pagesOf(rig, look)).toBeLessThan(20_000)
  await dispatcher.idle()
  expect(await rig.count('deliveries')).toBe(50_020)
  await receiver.close()
})

/** How many pages of the database a statement touches. */
async function pagesOf({ database }: DispatchRig, query: Parameters<Database['query']>[0]): Promise<number> {
  const { text, values } = query
  let row: { 'QUERY PLAN': { Plan: Record<string, number> }[] } | undefined
  const isUndone = new Error('so that the claim has no effect')
  await database
    .transaction(async tx => {
      ;[row] = await tx.query({ name: '', text: `explain (analyze, buffers, format json) ${text}`, values })
      throw isUndone
    })
    .catch(error => {
      if (error !== isUndone) throw error
    })
  const plan = row?.['QUERY PLAN'][0]?.Plan ?? {}
  return (plan['Shared Hit Blocks'] ?? Number.NaN) + (plan['Shared Read Blocks'] ?? Number.NaN)
}
