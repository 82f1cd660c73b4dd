import type { ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import type { Dispatcher } from '../../service/src/webhooks/delivery/dispatcher.ts'
import { createResolver } from '../../service/src/webhooks/egress/resolver.ts'
import { enableEndpoint, getEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { cleanUpWebhooks } from '../../service/src/webhooks/log/clean-up.ts'
import { replayTo } from '../../service/src/webhooks/log/replay.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
function range(count: number, prefix = 'u') {
  return Array.from({ length: count }, (_, index) => `${prefix}${index}`)
}

type Set = { rig: DispatchRig; receiver: Receiver; dispatcher: Dispatcher; webhookid: string }

async function withEndpoint(run: (set: Set) => Promise<void>, wish = {}) {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  try {
    const { webhookid } = await rig.addEndpoint(receiver.url, wish)
    const dispatcher = rig.open()
    await dispatcher.idle()
    await run({ rig, receiver, dispatcher, webhookid })
  } finally {
    await receiver.close()
  }
}

/** Raises one event for each userid and waits until the dispatcher is idle. */
async function send({ rig, dispatcher }: Set, userids: readonly string[]) {
  await rig.raise(userids)
  await dispatcher.idle()
}

function enable({ rig, webhookid }: Set) {
  return rig.database.transaction(tx =>
    enableEndpoint(tx, { partnerId: rig.partner.partnerId, endpointId: webhookid }, rig.now()),
  )
}

async function after({ rig, dispatcher }: Set, ms: number) {
  rig.advance(ms)
  await dispatcher.idle()
}
/**
 * A receiver that answers 200 to this many attempts and holds the next ones until `goOn`. `isWide` resolves when more
 * than this many are under way at once, which never happens if the pace does not grow.
 */
function paceOf(count: number) {
  const widths: { inFlight: number; answered: number }[] = []
  const held: (() => void)[] = []
  let [inFlight, answered, isOver] = [0, 0, false]
  let tellWide = () => {}
  const isWide = new Promise<void>(resolve => {
    tellWide = resolve
  })
  const answer = () => (response: ServerResponse) => {
    inFlight += 1
    widths.push({ inFlight, answered })
    if (inFlight > count) tellWide()
    const end = () => {
      inFlight -= 1
      answered += 1
      response.writeHead(200).end()
    }
    if (isOver || answered < count) end()
    else held.push(end)
  }
  const goOn = () => {
    isOver = true
    for (const end of held.splice(0)) end()
  }
  return { widths, isWide, answer, goOn }
}
function look({ rig, webhookid }: Set) {
  return getEndpoint(rig.database, rig.partner.partnerId, webhookid)
}

// The first test here, because ids contain the time and never go back within a process.
test('deliveries that wait for 30 days become dead and stay listed; old events and old days of the log are removed', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    await send(set, ['done'])
    receiver.answer = () => 410
    await send(set, ['held'])
    expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 0, events: 0 })
    rig.advance(29 * DAY)
    expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 0, events: 0 })
    rig.advance(2 * DAY)
    // With the notice that the endpoint was disabled.
    expect(await cleanUpWebhooks(rig.database, rig.now())).toMatchObject({ died: 1, events: 2 })
    expect(await look(set)).toMatchObject({ dead: 1, waiting: 0 })
    expect(await rig.count('delivery_attempts')).toBe(0)
    rig.advance(60 * DAY)
    await cleanUpWebhooks(rig.database, rig.now())
    expect(await look(set)).toMatchObject({ dead: 1 })
    const [row] = await rig.database.query<{ count: number }>(sql`select count(*) as count from events`)
    expect(row?.count).toBe(1)
  }))

test('a delivery gets 12 attempts over about 71 hours, and then is dead, listed, and can be replayed', () =>
  withEndpoint(async set => {
    const { rig, receiver, webhookid } = set
    // Another event succeeds now and then, so that the breaker does not open and the endpoint is not disabled.
    receiver.answer = delivery => (delivery.userid === 'bad' ? 422 : 200)
    let attempted = { from: rig.now(), to: rig.now() }
    await send(set, ['bad'])
    attempted.to = rig.now()
    const badAttempts = () => receiver.deliveries.filter(one => one.userid === 'bad').length
    // Each attempt lies between two readings of the clock, so the speed of the machine does not matter.
    const delays: { least: number; most: number }[] = []
    for (let step = 0; badAttempts() < 12 && step < 2000; step += 1) {
      const before = badAttempts()
      const [row] = await rig.database.query<{ due_at: number }>(sql`select due_at from deliveries`)
      const due = row?.due_at ?? 0
      await rig.raise(['good'])
      await after(set, Math.max(0, due - rig.now() - SECOND))
      expect(badAttempts() === before || rig.now() >= due).toBe(true)
      const from = rig.now()
      await after(set, Math.max(0, due - rig.now()) + 5)
      if (badAttempts() === before) continue
      delays.push({ least: (due - attempted.to) / SECOND, most: (due - attempted.from) / SECOND })
      attempted = { from, to: rig.now() }
    }
    const promised = [5, 30, 120, 600, 1800, 3600, 10_800, 21_600, 43_200, 86_400, 86_400]
    expect(delays).toHaveLength(promised.length)
    for (const [index, delay] of promised.entries()) {
      expect(delays[index]?.most).toBeGreaterThanOrEqual(delay * 0.8)
      expect(delays[index]?.least).toBeLessThanOrEqual(delay * 1.2)
    }
    const attempts = receiver.deliveries.filter(one => one.userid === 'bad')
    expect(attempts.map(one => one.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])
    expect(new Set(attempts.map(one => one.key + one.body)).size).toBe(1)
    expect(await rig.count('deliveries')).toBe(0)
    expect(await look(set)).toMatchObject({ dead: 1, disabled_at: null })

    receiver.answer = () => 200
    const target = { partnerId: rig.partner.partnerId, endpointId: webhookid }
    const replayed = await rig.database.transaction(tx =>
      replayTo(tx, target, { selection: { kind: 'status', status: 'dead' }, now: rig.now(), dryRun: false }),
    )
    expect(replayed.count).toBe(1)
    await set.dispatcher.idle()
    const again = receiver.deliveries.filter(one => one.userid === 'bad').at(-1)
    expect([again?.key, again?.body, again?.attempt]).toEqual([attempts[0]?.key, attempts[0]?.body, 1])
    expect(await look(set)).toMatchObject({ dead: 0, waiting: 0 })
  }))

test('five failures in a row open the breaker, and then only one probe at a time spends an attempt', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 503
    await send(set, ['u0'])
    // A single failing event follows its own schedule: 0, 5 s, 30 s, 2 min, 10 min.
    for (const wait of [6, 36, 144, 720]) await after(set, wait * SECOND + 10)
    expect(receiver.deliveries).toHaveLength(5)
    expect((await look(set))?.health.breaker.open).toMatchObject({ by: 'endpoint', level: 0 })
    await send(set, range(50, 'w'))
    expect(receiver.deliveries).toHaveLength(5)
    // Each failed probe uses up an attempt of one delivery and opens the breaker for longer.
    for (const [index, wait] of [10, 30, 60, 120, 300, 600, 900, 900].entries()) {
      await after(set, wait * SECOND + 10)
      expect(receiver.deliveries).toHaveLength(6 + index)
    }
    const [row] = await rig.database.query<{ spent: number }>(
      sql`select sum(attempts)::integer as spent from deliveries`,
    )
    expect(row?.spent).toBe(13)
  }))

test('the first success after an outage releases the whole backlog, oldest first, without rewriting its rows', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, range(300, 'w'))
    const failed = receiver.deliveries.length
    expect(failed).toBeGreaterThanOrEqual(5)
    // Only the attempts that were under way when the breaker opened.
    expect(failed).toBeLessThan(80)
    const untouched = async () => {
      const rows = await rig.database.query<{ tid: string }>(
        sql`select event_id || ' ' || ctid::text || ' ' || xmin::text as tid from deliveries
        where attempts = 0 and held_from is null`,
      )
      return rows.map(row => row.tid)
    }
    const before = await untouched()
    const paced = paceOf(8)
    const probes: ServerResponse[] = []
    receiver.answer = () => response => probes.push(response)
    rig.advance(40 * SECOND)
    set.dispatcher.nudge()
    await receiver.received(failed + 1)
    receiver.answer = paced.answer
    probes[0]?.writeHead(200).end()
    await paced.isWide
    await expect.poll(() => rig.count('deliveries')).toBeLessThan(300)
    const left = await untouched()
    expect(left.length).toBeGreaterThan(100)
    expect(left.filter(row => !before.includes(row))).toEqual([])
    paced.goOn()
    await set.dispatcher.idle()
    await after(set, 2 * MINUTE)
    expect(await rig.count('deliveries')).toBe(0)
    const fresh = receiver.deliveries.slice(failed).filter(one => one.attempt === 1)
    expect(new Set(fresh.map(one => one.userid)).size).toBe(300 - failed)
    // The probe is alone, and the pace grows after it.
    expect(probes).toHaveLength(1)
    for (const width of paced.widths) expect(width.inFlight).toBeLessThanOrEqual(1 + width.answered)
    // Oldest first: no delivery overtakes others by more than the number that may be under way at once.
    const order = fresh.map(one => Number(one.userid.slice(1)))
    for (const [index, number] of order.entries())
      expect(order.slice(index + 1).filter(later => later < number).length).toBeLessThan(64)
  }))

test('three answers 401 or 403 in a row open the breaker, and its state names credentials', () =>
  withEndpoint(async set => {
    set.receiver.answer = () => 403
    await send(set, range(1))
    for (const wait of [6, 36, 144]) await after(set, wait * SECOND + 10)
    expect((await look(set))?.health.breaker.open).toMatchObject({ by: 'credentials' })
  }))

test('faults of our own spend no attempt and open no breaker, however many there are', async () => {
  await using rig = await dispatchRig()
  const { webhookid } = await rig.addEndpoint('https://hooks.example.com/')
  const nobody = createResolver({ servers: ['127.0.0.1:1'], timeoutMs: 300 })
  const dispatcher = rig.open({}, { resolver: nobody })
  await rig.raise(['u0'])
  for (let attempts = 1; attempts <= 14; attempts += 1) {
    await vi.waitFor(
      async () => {
        rig.advance(MINUTE)
        await dispatcher.idle()
        expect(await rig.count('delivery_attempts')).toBeGreaterThanOrEqual(attempts)
      },
      { timeout: 120_000, interval: 5 },
    )
  }
  await dispatcher.close()
  const errors = await rig.database.query(sql`select distinct error_class, attempt from delivery_attempts`)
  expect(errors).toEqual([{ error_class: 'resolver', attempt: 1 }])
  expect(await rig.database.query(sql`select attempts, work from deliveries`)).toEqual([
    { attempts: 0, work: 'fresh' },
  ])
  const row = await getEndpoint(rig.database, rig.partner.partnerId, webhookid)
  expect(row).toMatchObject({
    dead: 0,
    health: { failingSince: undefined, breaker: { open: null, endpointInRow: 0 } },
  })
})

test('Retry-After on 429 pauses the whole endpoint, for 24 hours at most', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => response => response.writeHead(429, { 'retry-after': '1e12' }).end()
    await send(set, ['u0'])
    receiver.answer = () => 200
    await rig.raise(['u1'])
    await after(set, 23 * HOUR)
    expect(receiver.deliveries).toHaveLength(1)
    await after(set, HOUR)
    expect(receiver.deliveries).toHaveLength(3)
  }))

test('a pause that an endpoint asked for survives a restart', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => response => response.writeHead(503, { 'retry-after': '7200' }).end()
    await send(set, ['u0'])
    await set.dispatcher.close()
    receiver.answer = () => 200
    const next = rig.open()
    await rig.raise(['u1'])
    rig.advance(HOUR)
    await next.idle()
    expect(receiver.deliveries).toHaveLength(1)
    rig.advance(HOUR + SECOND)
    await next.idle()
    expect(receiver.deliveries).toHaveLength(3)
  }))

test('a later, shorter Retry-After does not shorten a pause', () =>
  withEndpoint(async set => {
    const { rig, receiver, dispatcher } = set
    const held: ServerResponse[] = []
    receiver.answer = () => response => held.push(response)
    await rig.raise(['u0', 'u1'])
    dispatcher.nudge()
    await receiver.received(2)
    held[0]?.writeHead(429, { 'retry-after': '3600' }).end()
    await expect.poll(() => dispatcher.inventory().underWay).toBe(1)
    held[1]?.writeHead(429, { 'retry-after': '10' }).end()
    await dispatcher.idle()
    receiver.answer = () => 200
    await after(set, HOUR - 10 * SECOND)
    expect(receiver.deliveries).toHaveLength(2)
    await after(set, 11 * SECOND)
    expect(receiver.deliveries).toHaveLength(4)
  }))

test('deliveries that failed in an outage do not wait for their next attempt: they are sent in order of age', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 503
    await send(set, ['oldest'])
    // Its fifth attempt would be ten minutes after the fourth.
    for (const wait of [6, 36, 144]) await after(set, wait * SECOND + 10)
    await send(set, ['b0', 'b1', 'b2'])
    expect((await look(set))?.health.breaker.open).toMatchObject({ by: 'endpoint', level: 0 })
    const failed = receiver.deliveries.length
    await rig.raise(['c0', 'c1'])
    receiver.answer = () => 200
    await after(set, 11 * SECOND)
    await set.dispatcher.idle()
    expect(await rig.count('deliveries')).toBe(0)
    const [probe, ...released] = receiver.deliveries.slice(failed).map(one => one.userid)
    expect(released).toEqual(['oldest', 'b0', 'b1', 'b2', 'c0', 'c1'].filter(userid => userid !== probe))
  }))

test('a 410 disables the endpoint; its events are held, and enabling sends them oldest first', () =>
  withEndpoint(
    async set => {
      const { rig, receiver } = set
      receiver.answer = () => 410
      await send(set, ['u0'])
      expect(await look(set)).toMatchObject({ disabled_reason: 'gone' })
      await rig.raise(['u0', 'u0', 'u0'])
      await after(set, 2 * HOUR)
      expect(receiver.deliveries).toHaveLength(1)
      receiver.answer = () => 200
      await enable(set)
      await set.dispatcher.idle()
      await set.dispatcher.idle()
      expect(receiver.deliveries).toHaveLength(5)
      expect(receiver.deliveries.slice(1).map(one => one.attempt)).toEqual([2, 1, 1, 1])
      expect(await look(set)).toMatchObject({ disabled_at: null, waiting: 0 })
    },
    { ordering: 'user' },
  ))

test('enabling an endpoint sends first and at once the events that it had refused', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 410
    await send(set, ['first'])
    await rig.raise(['second', 'third'])
    receiver.answer = () => 200
    await enable(set)
    set.dispatcher.refresh()
    await vi.waitFor(() => expect(receiver.deliveries).toHaveLength(4), { timeout: 120_000 })
    expect(receiver.deliveries[1]).toMatchObject({ userid: 'first', attempt: 2 })
  }))

test('enabling an endpoint sends held events at a growing rate', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 410
    await send(set, ['first'])
    await rig.raise(range(100, 'w'))
    const paced = paceOf(4)
    receiver.answer = paced.answer
    await enable(set)
    await paced.isWide
    paced.goOn()
    await receiver.received(102)
    // One attempt alone, and one more at a time for each success.
    for (const width of paced.widths) expect(width.inFlight).toBeLessThanOrEqual(1 + width.answered)
  }))

test('72 hours without a success disable the endpoint, with notices before', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, range(3))
    for (let hour = 0; hour < 71; hour += 1) await after(set, HOUR)
    expect(await look(set)).toMatchObject({ disabled_at: null })
    expect(rig.logged.filter(line => line.event === 'webhook.failing')).toHaveLength(3)
    await after(set, 2 * HOUR)
    expect(await look(set)).toMatchObject({ disabled_reason: 'failing' })
    expect(rig.logged.filter(line => line.event === 'webhook.disabled')).toHaveLength(1)
    const attempts = receiver.deliveries.length
    await rig.raise(range(3))
    await after(set, 3 * DAY)
    expect(receiver.deliveries).toHaveLength(attempts)
  }))

test('72 hours without a success disable an endpoint even while its Retry-After pauses it', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, ['u0'])
    for (let hour = 0; hour < 50; hour += 1) await after(set, HOUR)
    receiver.answer = () => response => response.writeHead(503, { 'retry-after': '86400' }).end()
    await rig.raise(['u1'])
    for (let hour = 50; hour < 71; hour += 1) await after(set, HOUR)
    await rig.raise(['u2'])
    const attempts = receiver.deliveries.length
    expect(await look(set)).toMatchObject({ disabled_at: null })
    await after(set, 90 * MINUTE)
    expect(await look(set)).toMatchObject({ disabled_reason: 'failing' })
    expect(receiver.deliveries).toHaveLength(attempts)
  }))

test('after this service itself was down for 73 hours, due deliveries are attempted before an endpoint is disabled', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, ['u0'])
    await set.dispatcher.close()
    rig.advance(73 * HOUR)
    receiver.answer = () => 200
    await rig.open().idle()
    expect(receiver.deliveries).toHaveLength(2)
    expect(await look(set)).toMatchObject({
      disabled_at: null,
      waiting: 0,
      health: { failingSince: undefined },
    })
  }))

test('while what was due after 72 hours is being attempted, no process disables the endpoint', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, ['u0'])
    await set.dispatcher.close()
    rig.advance(73 * HOUR)
    const held: ServerResponse[] = []
    receiver.answer = () => response => held.push(response)
    const dispatcher = rig.open({}, { deadlineMs: 600_000 })
    await receiver.received(2)
    await rig.open().idle()
    expect(await look(set)).toMatchObject({ disabled_at: null })
    held[0]?.writeHead(200).end()
    await dispatcher.idle()
    expect(await look(set)).toMatchObject({ disabled_at: null, waiting: 0 })
  }))

test('what stands behind an event that waits for its next attempt does not keep an endpoint from being disabled', () =>
  withEndpoint(
    async set => {
      const { rig, receiver, dispatcher } = set
      receiver.answer = () => 500
      await send(set, ['u0', 'u0'])
      const since = new Date(rig.now() - 73 * HOUR).toISOString()
      await rig.database.query(
        sql`update endpoint_health set failing_since = ${since}, revision = revision + 1`,
      )
      await dispatcher.idle()
      expect(receiver.deliveries).toHaveLength(1)
      expect(await look(set)).toMatchObject({ disabled_reason: 'failing', waiting: 2 })
    },
    { ordering: 'user' },
  ))

test('an endpoint that is down as long as this service was is disabled by its next failure', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, ['u0'])
    await set.dispatcher.close()
    rig.advance(73 * HOUR)
    await rig.open().idle()
    expect(receiver.deliveries).toHaveLength(2)
    expect(await look(set)).toMatchObject({ disabled_reason: 'failing', waiting: 1 })
  }))

test('the state of the breaker survives a restart', () =>
  withEndpoint(async set => {
    const { rig, receiver } = set
    receiver.answer = () => 500
    await send(set, range(8))
    const attempts = receiver.deliveries.length
    expect((await look(set))?.health.breaker.open).not.toBeNull()
    await set.dispatcher.close()
    const next = rig.open()
    await next.idle()
    expect(receiver.deliveries).toHaveLength(attempts)
  }))
