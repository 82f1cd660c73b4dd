import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { makeQuiet } from '../../service/src/quiet.ts'
import { startMetricsListener } from '../../service/src/system/metrics-listener.ts'
import { metricsOf } from '../../service/src/system/process-metrics.ts'
import { forAllTests } from '../for-all-tests.ts'
import { freePort } from '../free-port.ts'
import { ada, startTestService, type TestService } from '../rig.ts'
import { send } from './raw.ts'

const service = forAllTests(startTestService)

/** The samples of a service by name and labels. */
async function samplesOf({ service: running }: TestService): Promise<ReadonlyMap<string, number>> {
  const lines = (await running().metrics()).split('\n').filter(line => line !== '' && !line.startsWith('#'))
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]))
}

test('each answer is counted by operation and status, with its time; before the first they stand at zero', async () => {
  const { client } = await service.newPartner()
  const before = await samplesOf(service)
  expect(before.get('http_requests_total{operation="createUser",status="422"}')).toBe(0)
  expect(before.get('http_request_seconds_count{operation="eraseUser"}')).toBe(0)
  await client.prefillUser({ userid: 'counted' })
  await expect(client.getUser({ userid: 'nobody' })).rejects.toMatchObject({ status: 404 })
  for (const path of ['/register', '/docs', '/nowhere']) await fetch(service.baseUrl + path)
  const after = await samplesOf(service)
  const rise = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0)
  expect(rise('http_requests_total{operation="prefillUser",status="200"}')).toBe(1)
  expect(rise('http_requests_total{operation="getUser",status="404"}')).toBe(1)
  expect(rise('http_requests_total{operation="issueToken",status="200"}')).toBe(1)
  expect(rise('http_request_seconds_count{operation="prefillUser"}')).toBe(1)
  expect(rise('http_request_seconds_sum{operation="prefillUser"}')).toBeGreaterThan(0)
  expect(rise('http_request_seconds_count{operation="page"}')).toBe(1)
  expect(rise('http_request_seconds_count{operation="other"}')).toBe(1)
  expect(rise('http_requests_total{operation="none",status="404"}')).toBe(1)
})

test('what is due and not applied is a lag that grows, and none once it is applied', async () => {
  await using quiet = await startTestService()
  const { client } = await quiet.newPartner()
  await client.createUser({ ...ada, userid: 'late', offername: 'plus' })
  await client.cancelUser({ userid: 'late' })
  expect((await samplesOf(quiet)).get('due_changes_lag_seconds')).toBe(0)
  await makeQuiet(quiet.database, quiet.now())
  await quiet.restart()
  // Beyond the end of the month, when the cancel takes effect.
  const days = 40 * 86_400
  quiet.advance(days * 1000)
  const first = (await samplesOf(quiet)).get('due_changes_lag_seconds') ?? 0
  expect(first).toBeGreaterThan(8 * 86_400)
  expect(first).toBeLessThan(days)
  quiet.advance(3_600_000)
  expect((await samplesOf(quiet)).get('due_changes_lag_seconds')).toBeGreaterThanOrEqual(first + 3600)
})

test('pools tell how many connections they have, hold and wait for', async () => {
  const { database } = service
  const { most } = database.use()
  let free = () => {}
  const held = new Promise<void>(resolve => {
    free = resolve
  })
  // One more than the pool has connections: the last waits until one is returned, beside what the service reads.
  const work = Array.from({ length: most + 1 }, () => database.together(() => held))
  await expect.poll(() => database.use().waiting).toBeGreaterThan(0)
  // The delivery pool still answers, so the database is up.
  await expect
    .poll(async () => (await samplesOf(service)).get('database_pool_wait_seconds_total{pool="requests"}'))
    .toBeGreaterThan(0)
  const during = await samplesOf(service)
  free()
  await Promise.all(work)
  expect(during.get('database_up')).toBe(1)
  expect(during.get('database_pool_size{pool="requests"}')).toBe(most)
  expect(during.get('database_pool_busy{pool="requests"}')).toBe(most)
  expect(during.get('database_pool_waiting{pool="requests"}')).toBeGreaterThanOrEqual(1)
  expect(during.get('database_pool_busy_seconds_total{pool="requests"}')).toBeGreaterThan(0)
  expect((await samplesOf(service)).get('database_pool_waiting{pool="requests"}')).toBe(0)
})

test('version and schema are told by the metrics, the version by healthz too', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../service/package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  const [build] = [...(await samplesOf(service)).keys()].filter(name =>
    name.startsWith('enrolment_build_info'),
  )
  expect(build).toContain(`version="${version}",node="${process.version}",schema="`)
  expect(await send(service, 'GET', '/healthz')).toMatchObject({
    status: 200,
    body: { status: 'ok', version },
  })
})

test('the listener answers at the address that it is bound to, with the numbers of the process, and nothing else', async () => {
  const port = await freePort()
  const close = await startMetricsListener(
    { host: '127.0.0.3', port },
    { metrics: () => metricsOf({ metrics: async () => 'own 1\n' }) },
  )
  const answer = await fetch(`http://127.0.0.3:${port}/metrics`)
  const text = await answer.text()
  expect(text).toMatch(/^own 1\n/)
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'nodejs_eventloop_lag_p99_seconds',
  ])
    expect(text).toMatch(new RegExp(`^${name} `, 'm'))
  expect((await fetch(`http://127.0.0.3:${port}/`)).status).toBe(404)
  await expect(fetch(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow()
  await expect(
    startMetricsListener({ host: '127.0.0.3', port }, { metrics: async () => '' }),
  ).rejects.toThrow(`ENROLMENT_METRICS_PORT ${port} is taken`)
  await expect(
    startMetricsListener({ host: '192.0.2.1', port }, { metrics: async () => '' }),
  ).rejects.toThrow(/cannot be served on 192\.0\.2\.1.*ENROLMENT_METRICS_HOST/)
  await close()
})
