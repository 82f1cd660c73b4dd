import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { type Created, clientOf, codeOf } from '../command/place.ts'
import { newDataDir, runJson, type ServiceProcess, startProcess } from '../command/process.ts'
import { isAlive, workersOf } from '../faults/victims.ts'
import { freePort } from '../free-port.ts'
import { ada, demoCatalogueFile } from '../rig.ts'

// One `serve` with two processes that answer requests; how they are killed and replaced under load is in `tests/faults/cases.test.ts`.

const patience = { interval: 50 }
/** Sends a request on a connection of its own; says whether it was answered, or the connection ended without an answer. */
function probe({ address }: ServiceProcess): Promise<'answered' | 'ended'> {
  const { hostname, port } = new URL(address)
  return new Promise((resolve, reject) => {
    // Its side is ended after the request, as some callers do.
    const socket = connect(Number(port), hostname).end('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    let text = ''
    socket.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    socket.on('error', (error: Error & { code?: string }) => {
      if (error.code === 'ECONNREFUSED') reject(error)
    })
    socket.on('close', () => resolve(text.startsWith('HTTP/1.1 200') ? 'answered' : 'ended'))
  })
}

test('a connection given to a process that dies ends, its parent keeps nothing of it, and the port stays open when all die', async () => {
  const data = await newDataDir()
  const service = await startProcess(['serve', '--port', '0', '--data', data], {
    env: { ENROLMENT_PROCESSES: '2' },
  })
  const descriptors = async () => (await readdir(`/proc/${service.child.pid}/fd`)).length
  const before = await descriptors()
  // It takes nothing from now on, so that what it is given is on its way when it dies.
  const [stopped = 0] = workersOf(service)
  process.kill(stopped, 'SIGSTOP')
  let answered = 0
  const probes = Array.from({ length: 20 }, async () => {
    const outcome = await probe(service)
    if (outcome === 'answered') answered += 1
    return outcome
  })
  await expect.poll(() => answered, patience).toBe(10)
  process.kill(stopped, 'SIGKILL')
  const outcomes = await Promise.all(probes)
  expect(outcomes.filter(outcome => outcome === 'ended')).toHaveLength(10)
  await expect.poll(() => workersOf(service).length, patience).toBe(3)
  await expect.poll(descriptors, patience).toBeLessThanOrEqual(before)

  const alive = workersOf(service).filter(isAlive)
  for (const pid of alive) process.kill(pid, 'SIGKILL')
  await expect.poll(() => alive.filter(isAlive), patience).toEqual([])
  // A caller who has waited for as long as a request may take calls again; nobody is refused.
  while ((await probe(service)) !== 'answered');
  for (let count = 0; count < 9; count += 1) expect(await probe(service)).toBe('answered')
  expect(await service.stop()).toBe(0)
})

/** Each metric stands once, with the samples of both processes that serve. */
async function expectMetricsOfAll(port: number): Promise<void> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const types = text.match(/^# TYPE .*/gm) ?? []
  expect(new Set(types).size).toBe(types.length)
  for (const process of ['1', '2'])
    for (const metric of ['http_requests_total', 'database_up', 'process_resident_memory_bytes'])
      expect(text).toMatch(new RegExp(`^${metric}\\{process="${process}"`, 'm'))
  expect(text).toMatch(/^process_resident_memory_bytes\{process="0"\}/m)
}

test('two processes share one embedded database, which their parent stops, and count failures and limited requests together', async () => {
  const data = await newDataDir()
  const metricsPort = await freePort()
  const env = { ENROLMENT_FAILED_AUTHENTICATIONS: '10', ENROLMENT_METRICS_PORT: String(metricsPort) }
  const service = await startProcess(['serve', '--port', '0', '--data', data], {
    env: { ENROLMENT_PROCESSES: '2', ...env },
  })
  await expectMetricsOfAll(metricsPort)
  await runJson(['catalogue', 'publish', demoCatalogueFile, '--data', data])
  const created = await runJson<Created>(['partner', 'create', '--name', 'Two', '--data', data])
  const client = clientOf(service, created)
  await client.prefillUser({ userid: 'shared', ...ada })
  expect(await codeOf(client.getUser({ userid: 'shared' }))).not.toBe('unauthorized')
  const statuses: number[] = []
  for (let count = 0; count < 20; count += 1) {
    // Connections go to the processes in turn.
    const headers = { connection: 'close' }
    statuses.push((await fetch(`${service.address}/webhooks`, { headers })).status)
  }
  // Counted apart, twenty failures would all be within the limit; news of one may arrive after the next.
  expect(statuses.slice(-4)).toEqual([429, 429, 429, 429])
  const limited = await runJson<Created>([
    'partner',
    'create',
    '--name',
    'Limited',
    '--rate',
    '10/s',
    '--data',
    data,
  ])
  const basic = Buffer.from(`${limited.clientid}:${limited.clientsecret}`).toString('base64')
  const issued = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  expect(issued.status).toBe(200)
  const { access_token: token } = (await issued.json()) as { access_token: string }
  const begun = performance.now()
  let allowed = 0
  for (let count = 0; count < 60; count += 1) {
    const headers = { connection: 'close', authorization: `Bearer ${token}`, 'x-api-key': limited.apikey }
    if ((await fetch(`${service.address}/webhooks`, { headers })).ok) allowed += 1
  }
  // Counted apart, each process would allow the ten of a bucket; news of one may arrive after the next.
  expect(allowed).toBeGreaterThan(0)
  expect(allowed).toBeLessThanOrEqual(10 + (10 * (performance.now() - begun)) / 1000 + 3)
  expect(await service.stop()).toBe(0)
  const events = service.log().map(({ event }) => event)
  expect(events.at(-1)).toBe('stopped')
  expect(events).toContain('database_stopped')
})
