import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Database } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { startMetricsListener } from '../../service/src/system/metrics-listener.ts'
import { readBacklog } from '../../service/src/webhooks/delivery/backlog.ts'
import { webhookMetrics } from '../../service/src/webhooks/delivery/metrics.ts'
import { createResolver } from '../../service/src/webhooks/egress/resolver.ts'
import { freePort } from '../free-port.ts'
import { startTestService } from '../rig.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

test('each metric of webhook delivery changes by its own cause', async () => {
  await using rig = await dispatchRig()
  const good = await startReceiver()
  const bad = await startReceiver()
  const gone = await startReceiver()
  const paused = await startReceiver()
  bad.answer = () => 500
  gone.answer = () => 410
  paused.answer = () => response => response.writeHead(429, { 'retry-after': '3600' }).end()
  const metrics = webhookMetrics({ database: rig.database, real: rig.now })
  const shown = async (name: string): Promise<number | undefined> => {
    const line = (await metrics.render()).split('\n').find(one => one.startsWith(`${name} `))
    return line === undefined ? undefined : Number(line.slice(name.length + 1))
  }
  for (const name of [
    'webhook_attempts_total{outcome="delivered"}',
    'webhook_deliveries_total{outcome="dead"}',
    'webhook_failures_total{reason="5xx"}',
    'webhook_endpoints{state="ok"}',
    'webhook_waiting{state="failing"}',
    'webhook_oldest_due_seconds{state="disabled"}',
    'webhook_dead{state="ok"}',
    'webhook_certificates{ends="past"}',
  ])
    expect([name, await shown(name)]).toEqual([name, 0])

  const events = ['offer_activiation_successful'] as const
  for (const { url } of [good, bad, gone, paused]) await rig.addEndpoint(url, { events })
  expect(await shown('webhook_endpoints{state="ok"}')).toBe(4)
  const dispatcher = rig.open({}, { metrics })
  await dispatcher.idle()
  await rig.raise(['u1'])
  expect(await shown('webhook_waiting{state="ok"}')).toBe(4)
  await dispatcher.idle()
  await dispatcher.idle()

  expect(await shown('webhook_attempts_total{outcome="delivered"}')).toBe(1)
  expect(await shown('webhook_attempts_total{outcome="failed"}')).toBe(3)
  expect(await shown('webhook_deliveries_total{outcome="delivered"}')).toBe(1)
  expect(await shown('webhook_failures_total{reason="5xx"}')).toBe(1)
  expect(await shown('webhook_failures_total{reason="4xx"}')).toBe(2)
  expect(await shown('webhook_first_byte_seconds_count')).toBe(4)
  expect(await shown('webhook_attempt_seconds_count')).toBe(4)
  expect(await shown('webhook_endpoints{state="ok"}')).toBe(1)
  expect(await shown('webhook_endpoints{state="failing"}')).toBe(1)
  expect(await shown('webhook_endpoints{state="paused"}')).toBe(1)
  expect(await shown('webhook_endpoints{state="disabled"}')).toBe(1)
  expect(await shown('webhook_waiting{state="failing"}')).toBe(1)
  expect(await shown('webhook_waiting{state="paused"}')).toBe(1)
  expect(await shown('webhook_waiting{state="disabled"}')).toBe(1)
  expect(await shown('webhook_oldest_due_seconds{state="ok"}')).toBe(0)

  // A delivery that was given up stays counted until it is sent again.
  const [{ event_id: given } = { event_id: '' }] = await rig.database.query<{ event_id: string }>(sql`
    select event_id from deliveries where attempts > 0`)
  await rig.database.query(sql`
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, 12, 'attempts', due_at from deliveries where event_id = ${given}
      and attempts > 0`)
  expect(await shown('webhook_dead{state="failing"}')).toBe(1)

  // Nothing is sent any more, and time passes: the retries become due and grow old.
  await dispatcher.close()
  rig.advance(100_000)
  const oldest = await shown('webhook_oldest_due_seconds{state="failing"}')
  expect(oldest).toBeGreaterThanOrEqual(90)
  expect(await shown('webhook_first_byte_seconds_count')).toBe(4)

  // A fault of our own counts as neither, and the twelfth failure makes the delivery dead.
  const item = { ...note.item, attempts: 11 }
  metrics.note(item, { ...note.failed, disposition: { kind: 'dead', attempts: 12 } })
  expect(await shown('webhook_deliveries_total{outcome="dead"}')).toBe(1)
  metrics.note(item, note.unspent)
  expect(await shown('webhook_attempts_total{outcome="unspent"}')).toBe(1)
  expect(await shown('webhook_failures_total{reason="resolver"}')).toBe(1)

  // From the commit to the first byte, and only for a first attempt.
  const sum = (await shown('webhook_first_byte_seconds_sum')) ?? 0
  const last = { ...note.failed.last, startedAt: 5000 }
  const timings = { dnsMs: 100, connectMs: 200, tlsMs: 300, totalMs: 1000 }
  const slow = { ...note.failed, last: { ...last, outcome: { ...last.outcome, timings } } }
  const disposition = { kind: 'dead', attempts: 12 } as const
  metrics.note({ ...note.item, queue: 'fresh', created_at: 2000 }, { ...slow, disposition })
  metrics.note({ ...note.item, queue: 'replay', created_at: 2000 }, { ...slow, disposition })
  metrics.note({ ...note.item, queue: 'fresh', attempts: 1, created_at: 2000 }, { ...slow, disposition })
  expect((await shown('webhook_first_byte_seconds_sum')) ?? 0).toBeCloseTo(sum + 3.6, 6)
  for (const receiver of [good, bad, gone, paused]) await receiver.close()
})

test('a first attempt that a fault of ours cut short does not count as a first byte', async () => {
  await using rig = await dispatchRig()
  await rig.addEndpoint('https://hooks.example.com/')
  const metrics = webhookMetrics({ database: rig.database, real: rig.now })
  const resolver = createResolver({ servers: ['127.0.0.1:1'], timeoutMs: 300 })
  const dispatcher = rig.open({}, { metrics, resolver })
  await rig.raise(['u1'])
  await expect.poll(() => metrics.render()).toContain('webhook_attempts_total{outcome="unspent"} 1')
  expect(await metrics.render()).toContain('webhook_first_byte_seconds_count 0')
  await dispatcher.close()
})

test('deliveries that wait behind an earlier event of their user count as waiting, up to the limit of counting', async () => {
  await using rig = await dispatchRig()
  const bad = await startReceiver()
  bad.answer = () => 500
  await rig.addEndpoint(bad.url, { ordering: 'user' })
  const metrics = webhookMetrics({ database: rig.database, real: rig.now })
  const dispatcher = rig.open({}, { metrics })
  await rig.raise(Array.from({ length: 5 }, () => 'u'))
  await dispatcher.idle()
  expect(await rig.database.query(sql`select 1 from deliveries where held_from is not null`)).toHaveLength(4)
  expect(await metrics.render()).toContain('webhook_waiting{state="failing"} 5\n')
  const [counted] = await readBacklog(rig.database, { now: rig.now(), limit: 3 })
  expect(counted?.waiting).toBe(3)
  await bad.close()
})

test('while the database is away, the last known backlog is still reported, with its growing age', async () => {
  await using rig = await dispatchRig()
  const bad = await startReceiver()
  await rig.addEndpoint(bad.url)
  await rig.raise(['u1', 'u2'])
  let isAway = false
  const database: Database = {
    ...rig.database,
    query: query => (isAway ? Promise.reject(new Error('away on purpose')) : rig.database.query(query)),
  }
  const metrics = webhookMetrics({ database, real: rig.now })
  const shown = async (name: string) =>
    Number(new RegExp(`^${name}\\{state="ok"\\} (.*)$`, 'm').exec(await metrics.render())?.[1])
  expect(await shown('webhook_waiting')).toBe(2)
  isAway = true
  rig.advance(600_000)
  expect(await shown('webhook_waiting')).toBe(2)
  expect(await shown('webhook_oldest_due_seconds')).toBeGreaterThanOrEqual(600)
  await bad.close()
})

test('certificates are counted by when they expire, without those of disabled endpoints', async () => {
  await using rig = await dispatchRig()
  const days = [-1, 1, 10, 11, 400, 2]
  const ids: string[] = []
  for (const day of days) {
    const { webhookid } = await rig.addEndpoint(`https://hooks.example.com/${day}`)
    ids.push(webhookid)
    await rig.database.query(sql`
      update endpoint_health set certificate_ends_at = ${new Date(rig.now() + day * 86_400_000).toISOString()}
      where partner_id = ${rig.partner.partnerId} and endpoint_id = ${webhookid}`)
  }
  await rig.database.query(sql`
    update webhook_endpoints set disabled_at = created_at, disabled_reason = 'operator'
    where partner_id = ${rig.partner.partnerId} and endpoint_id = ${ids.at(-1)}`)
  const text = await webhookMetrics({ database: rig.database, real: rig.now }).render()
  for (const [ends, count] of [
    ['past', 1],
    ['within 7 days', 1],
    ['within 30 days', 2],
    ['later', 1],
  ])
    expect(text).toContain(`webhook_certificates{ends="${ends}"} ${count}\n`)
})

const docs = new URL('../../docs/', import.meta.url)
function read(name: string) {
  return readFileSync(new URL(name, docs), 'utf8')
}

test('`GET /metrics` has exactly the metrics of docs/operating.md, with the same labels, and no page names another', async () => {
  await using service = await startTestService()
  const given = numbersIn(await scrape(service.service().metrics))

  const section = /^## What the metrics say$(.*?)(?=^## )/ms.exec(read('operating.md'))?.[1] ?? ''
  const listed = [...section.matchAll(/^\| `(\w+)(?:\{(.*)\})?` \|/gm)].map(
    ([, name = '', labels = '']) => [name, labels] as const,
  )
  expect(Object.fromEntries(listed)).toEqual(given)
  expect(listed).toHaveLength(Object.keys(given).length)

  const pages = readdirSync(docs).filter(name => name.endsWith('.md'))
  const named = pages.flatMap(
    page => read(page).match(/\b(?:webhook|http|database|due|memory)_\w+_(?:total|seconds)\b/g) ?? [],
  )
  expect(Object.keys(given)).toEqual(expect.arrayContaining(named))
})

/** The answer of the operator's listener. */
async function scrape(render: () => Promise<string>): Promise<string> {
  const port = await freePort()
  const end = await startMetricsListener({ host: '127.0.0.1', port }, { metrics: render })
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await answer.text()
  await end()
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return text
}

/** The metric names in a text for Prometheus, each with its labels; a histogram's `le` label is left out. */
function numbersIn(text: string): Record<string, string> {
  const numbers: Record<string, string> = {}
  for (const [, name = ''] of text.matchAll(/^# TYPE (\w+) /gm)) {
    // The metrics of prom-client are documented by prom-client.
    if (/^(process|nodejs)_/.test(name)) continue
    const sample = new RegExp(`^${name}(?:_count)?(?:\\{(.*)\\})? `, 'm').exec(text)?.[1] ?? ''
    numbers[name] = [...sample.matchAll(/(\w+)="/g)].map(([, label]) => label).join()
  }
  return numbers
}

const attempt = {
  attemptId: 'a',
  startedAt: 0,
  pair: 'current',
} as const
const note = {
  item: {
    event_id: 'v',
    queue: 'retry' as const,
    attempts: 0,
    due_at: 0,
    created_at: 0,
    body: Buffer.alloc(0),
  },
  failed: {
    assessment: { kind: 'failed', blame: 'endpoint' },
    last: { ...attempt, outcome: { status: 500, snippet: '', timings: { totalMs: 1 } } },
  },
  unspent: {
    assessment: { kind: 'unspent', fault: 'resolver' },
    last: { ...attempt, outcome: { errorClass: 'resolver', timings: { totalMs: 1 } } },
    disposition: { kind: 'unchanged' },
  },
} as const
