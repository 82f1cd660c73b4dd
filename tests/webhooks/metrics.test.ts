import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { defaultLimits } from '../../service/src/http/admission.ts'
import { openGate } from '../../service/src/http/gate.ts'
import { loadMetrics } from '../../service/src/system/load-metrics.ts'
import { startMetricsListener } from '../../service/src/system/metrics-listener.ts'
import { readBacklog } from '../../service/src/webhooks/backlog.ts'
import { webhookMetrics } from '../../service/src/webhooks/metrics.ts'
import { createResolver } from '../../service/src/webhooks/resolver.ts'
import { freePort } from '../free-port.ts'
import { startReceiver } from './receiver.ts'
import { dispatchRig } from './rig.ts'

test('each number of webhook delivery changes for its cause', async () => {
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
  expect(await shown('webhook_tries_total{outcome="delivered"}')).toBeUndefined()
  expect(await shown('webhook_endpoints{state="ok"}')).toBeUndefined()

  for (const { url } of [good, bad, gone, paused]) await rig.addEndpoint(url)
  expect(await shown('webhook_endpoints{state="ok"}')).toBe(4)
  const dispatcher = rig.open({}, { metrics })
  await dispatcher.idle()
  await rig.raise(['u1'])
  expect(await shown('webhook_waiting{state="ok"}')).toBe(4)
  await dispatcher.idle()
  await dispatcher.idle()

  expect(await shown('webhook_tries_total{outcome="delivered"}')).toBe(1)
  expect(await shown('webhook_tries_total{outcome="failed"}')).toBe(3)
  expect(await shown('webhook_deliveries_total{outcome="delivered"}')).toBe(1)
  expect(await shown('webhook_failures_total{reason="5xx"}')).toBe(1)
  expect(await shown('webhook_failures_total{reason="4xx"}')).toBe(2)
  expect(await shown('webhook_first_byte_seconds_count')).toBe(4)
  expect(await shown('webhook_try_seconds_count')).toBe(4)
  expect(await shown('webhook_endpoints{state="ok"}')).toBe(1)
  expect(await shown('webhook_endpoints{state="failing"}')).toBe(1)
  expect(await shown('webhook_endpoints{state="paused"}')).toBe(1)
  expect(await shown('webhook_endpoints{state="disabled"}')).toBe(1)
  expect(await shown('webhook_waiting{state="failing"}')).toBe(1)
  expect(await shown('webhook_waiting{state="paused"}')).toBe(1)
  expect(await shown('webhook_waiting{state="disabled"}')).toBe(1)
  expect(await shown('webhook_oldest_due_seconds{state="ok"}')).toBe(0)

  // Nobody sends any more, and time passes: the retries are due, and grow old.
  await dispatcher.close()
  rig.advance(100_000)
  const oldest = await shown('webhook_oldest_due_seconds{state="failing"}')
  expect(oldest).toBeGreaterThanOrEqual(90)
  expect(await shown('webhook_first_byte_seconds_count')).toBe(4)

  // A fault of our own is neither, and the twelfth failure is a death.
  const item = { ...note.item, attempts: 11 }
  metrics.note(item, { ...note.failed, fate: { kind: 'dead', attempts: 12 } })
  expect(await shown('webhook_deliveries_total{outcome="dead"}')).toBe(1)
  metrics.note(item, note.unspent)
  expect(await shown('webhook_tries_total{outcome="unspent"}')).toBe(1)
  expect(await shown('webhook_failures_total{reason="resolver"}')).toBe(1)

  // From the commit to the first byte, and only of a first try.
  const sum = (await shown('webhook_first_byte_seconds_sum')) ?? 0
  const last = { ...note.failed.last, startedAt: 5000 }
  const timings = { dnsMs: 100, connectMs: 200, tlsMs: 300, totalMs: 1000 }
  const slow = { ...note.failed, last: { ...last, outcome: { ...last.outcome, timings } } }
  const fate = { kind: 'dead', attempts: 12 } as const
  metrics.note({ ...note.item, work: 'fresh', created_at: 2000 }, { ...slow, fate })
  metrics.note({ ...note.item, work: 'replay', created_at: 2000 }, { ...slow, fate })
  metrics.note({ ...note.item, work: 'fresh', attempts: 1, created_at: 2000 }, { ...slow, fate })
  expect((await shown('webhook_first_byte_seconds_sum')) ?? 0).toBeCloseTo(sum + 3.6, 6)
  for (const receiver of [good, bad, gone, paused]) await receiver.close()
})

test('a first try that a fault of ours cut short is no first byte', async () => {
  await using rig = await dispatchRig()
  await rig.addEndpoint('https://hooks.example.com/')
  const metrics = webhookMetrics({ database: rig.database, real: rig.now })
  const resolver = createResolver({ servers: ['127.0.0.1:1'], timeoutMs: 300 })
  const dispatcher = rig.open({}, { metrics, resolver })
  await rig.raise(['u1'])
  await expect.poll(() => metrics.render()).toContain('webhook_tries_total{outcome="unspent"} 1')
  expect(await metrics.render()).toContain('webhook_first_byte_seconds_count 0')
  await dispatcher.close()
})

test('what waits behind an earlier event of its user is counted among what waits, to the bound and no further', async () => {
  await using rig = await dispatchRig()
  const bad = await startReceiver()
  bad.answer = () => 500
  await rig.addEndpoint(bad.url, { ordering: 'user' })
  const metrics = webhookMetrics({ database: rig.database, real: rig.now })
  const dispatcher = rig.open({}, { metrics })
  await rig.raise(Array.from({ length: 5 }, () => 'u'))
  await dispatcher.idle()
  expect(await rig.database.query(sql`select parked from deliveries where parked`)).toHaveLength(4)
  expect(await metrics.render()).toContain('webhook_waiting{state="failing"} 5\n')
  const [counted] = await readBacklog(rig.database, { now: rig.now(), limit: 3 })
  expect(counted?.waiting).toBe(3)
  await bad.close()
})

const docs = new URL('../../docs/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, docs), 'utf8')

test('the numbers that `GET /metrics` gives are those of docs/operating.md, with the same labels, and no page names another', async () => {
  await using rig = await dispatchRig()
  await rig.addEndpoint('http://127.0.0.1:1/hook')
  const metrics = webhookMetrics({ database: rig.database, real: rig.now })
  // A counter tells of its labels once it has counted.
  metrics.note(note.item, { ...note.failed, fate: { kind: 'dead', attempts: 12 } })
  const load = loadMetrics(openGate(defaultLimits))
  const given = numbersIn(await scrape(async () => (await metrics.render()) + (await load())))

  const section = /^## What the metrics say$(.*?)(?=^## )/ms.exec(read('operating.md'))?.[1] ?? ''
  const listed = [...section.matchAll(/^\| `(\w+)(?:\{(.*)\})?` \|/gm)].map(
    ([, name = '', labels = '']) => [name, labels] as const,
  )
  expect(Object.fromEntries(listed)).toEqual(given)
  expect(listed).toHaveLength(Object.keys(given).length)

  const pages = readdirSync(docs).filter(name => name.endsWith('.md'))
  const named = pages.flatMap(page => read(page).match(/\b(?:webhook|http)_\w+_(?:total|seconds)\b/g) ?? [])
  expect(Object.keys(given)).toEqual(expect.arrayContaining(named))
})

/** What the operator's listener answers. */
const scrape = async (render: () => Promise<string>): Promise<string> => {
  const port = await freePort()
  const end = await startMetricsListener(port, { metrics: render })
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  const text = await answer.text()
  await end()
  expect([answer.status, answer.headers.get('content-type')]).toEqual([
    200,
    'text/plain; version=0.0.4; charset=utf-8',
  ])
  return text
}

/** The names of the numbers in a text for Prometheus, each with its labels; those of a histogram's buckets are its own. */
const numbersIn = (text: string): Record<string, string> => {
  const numbers: Record<string, string> = {}
  for (const [, name = ''] of text.matchAll(/^# TYPE (\w+) /gm)) {
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
    ...{ event_id: 'v', work: 'retry' as const, attempts: 0, due_at: 0, created_at: 0 },
    ...{ idempotency_key: 'k', body: Buffer.alloc(0) },
  },
  failed: {
    verdict: { kind: 'failed', blame: 'endpoint' },
    last: { ...attempt, outcome: { status: 500, snippet: '', timings: { totalMs: 1 } } },
  },
  unspent: {
    verdict: { kind: 'unspent', fault: 'resolver' },
    last: { ...attempt, outcome: { errorClass: 'resolver', timings: { totalMs: 1 } } },
    fate: { kind: 'unchanged' },
  },
} as const
