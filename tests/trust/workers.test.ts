import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { Agent, fetch } from 'undici'
import { afterEach, expect, test } from 'vitest'
import { type Created, clientOf, codeOf } from '../command/place.ts'
import { newDataDir, runJson, type ServiceProcess, startProcess } from '../command/process.ts'
import { freePort } from '../free-port.ts'
import { isLong } from '../long.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { type Journal, openJournal } from './journal.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

// One `serve` with two processes that answer requests.

let stage: FaultStage | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
})

async function more(journal: Journal, count: number): Promise<void> {
  const wanted = journal.acknowledged() + count
  await expect.poll(journal.acknowledged, { interval: 20 }).toBeGreaterThan(wanted)
}

/** The processes that have come to serve, in order. */
function pidsOf(service: ServiceProcess): number[] {
  return service.log().flatMap(({ event, pid }) => (event === 'worker_started' ? [Number(pid)] : []))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const patience = { interval: 50 }
/** Repeated when the machine was too slow for the time limits of statements, which production has too. */
const unlessTooSlow = { timeout: 900_000, retry: { count: 3, condition: /^Too slow/ } }

test(
  'SIGHUP replaces two processes under load and nothing is refused; one killed is started again, all end with a killed parent; nothing is lost',
  unlessTooSlow,
  async () => {
    stage = await openFaultStage()
    const opened = stage
    const metricsPort = await freePort()
    const start = async () => {
      // So long that, even on a busy machine, each connection is used once more and gets the answer that asks it to close.
      const started = await opened.start({
        drainSeconds: isLong ? 20 : 5,
        env: { ENROLMENT_PROCESSES: '2', ENROLMENT_METRICS_PORT: String(metricsPort) },
      })
      if (started === 'killed') throw new Error('it did not start')
      return started
    }
    const service = await start()
    // A pool may leave a connection unused until the process at its other end closes it, just as it is used again.
    const agents = Array.from({ length: 8 }, () => new Agent({ connections: 1 }))
    const clients = agents.map(dispatcher =>
      opened.clientOf(
        opened.ports[0] ?? 0,
        {},
        (input, init) => fetch(input as string, { ...init, dispatcher } as object) as never,
      ),
    )
    const write = (name: string) => openJournal(clients, { writers: 8, name })
    const calm = write('calm')
    await more(calm, 20)
    const former = pidsOf(service)
    service.child.kill('SIGHUP')
    await expect
      .poll(async () => {
        expect((await fetch(`${service.address}/readyz`)).status).toBe(200)
        return former.filter(isAlive)
      }, patience)
      .toEqual([])
    await more(calm, 20)
    await calm.stop()
    const again = calm.entries.filter(entry => entry.isAcknowledged && entry.sent !== 1)
    if (again.length > 0 && opened.refusals().length > 0)
      throw new Error(`Too slow: ${opened.refusals().join(' ')}`)
    // Sent once and acknowledged: no refusal, and no broken connection.
    expect(again).toEqual([])

    const broken = write('broken')
    await more(broken, 20)
    const [killed = 0, ...others] = pidsOf(service).slice(-2)
    process.kill(killed, 'SIGKILL')
    await expect.poll(() => pidsOf(service).length, patience).toBe(5)
    expect(others.every(isAlive)).toBe(true)
    await more(broken, 20)
    await expectMetricsOfAll(metricsPort)
    await service.stop('SIGKILL')
    await expect.poll(() => pidsOf(service).filter(isAlive), patience).toEqual([])
    const next = await start()
    await more(broken, 20)
    await broken.stop()
    await Promise.all(agents.map(agent => agent.close()))
    await opened.check({
      entries: [...calm.entries, ...broken.entries],
      wrong: [...calm.wrong, ...broken.wrong],
    })
    expect(await next.stop()).toBe(0)
    expect(pidsOf(next).filter(isAlive)).toEqual([])
  },
)

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
  const [stopped = 0] = pidsOf(service)
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
  await expect.poll(() => pidsOf(service).length, patience).toBe(3)
  await expect.poll(descriptors, patience).toBeLessThanOrEqual(before)

  const alive = pidsOf(service).filter(isAlive)
  for (const pid of alive) process.kill(pid, 'SIGKILL')
  await expect.poll(() => alive.filter(isAlive), patience).toEqual([])
  for (let count = 0; count < 10; count += 1) expect(await probe(service)).toBe('answered')
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
  const service = await startProcess(['serve', '--port', '0', '--data', data], {
    env: { ENROLMENT_PROCESSES: '2', ENROLMENT_FAILED_AUTHENTICATIONS: '10' },
  })
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
