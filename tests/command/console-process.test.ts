// @slow

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { freePort } from '../free-port.ts'
import { type HeldLocks, holdLocks } from '../hold-locks.ts'
import { wholeRunTest } from '../long.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, demoCatalogueFile } from '../rig.ts'
import { checkLogs } from '../trust/canaries.ts'
import { openOwnJournal } from '../trust/journal.ts'
import { checkUsers } from '../trust/ledger.ts'
import { urlOf } from './database-url.ts'
import { type Created, clientOf, newWorkplace, type Workplace } from './place.ts'
import { runJson, type ServiceProcess, startProcess } from './process.ts'

// `enrolment serve` with a console, which runs in a process of its own: a child of the service.
let place: Workplace
let service: ServiceProcess
let consoleUrl: string
let databaseUrl: string
let metricsPort: number
const rootKey = randomBytes(32).toString('base64')

beforeEach(async () => {
  const made = await newWorkplace()
  onTestFinished(made.remove)
  metricsPort = await freePort()
  const port = await freePort()
  consoleUrl = `http://127.0.0.1:${port}`
  databaseUrl = urlOf(made.address)
  const env = {
    ...made.place.env,
    ENROLMENT_ROOT_KEY: rootKey,
    ENROLMENT_CONSOLE_PORT: String(port),
    ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
    ENROLMENT_METRICS_PORT: String(metricsPort),
  }
  place = { ...made.place, env }
  service = await startProcess(['serve', '--port', '0'], place)
})

/** The processes that the service has started, as Linux lists them. */
function children(): readonly number[] {
  const text = readFileSync(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
/** The status of the console, by a connection of its own; 401 asks an anonymous caller to sign in. */
async function statusOf(url: string): Promise<number> {
  const answer = await fetch(url, { headers: { connection: 'close' } })
  await answer.text()
  return answer.status
}
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}
/** Opens the console, and gives the process that it runs in. */
async function openConsole(): Promise<number> {
  expect(await statusOf(consoleUrl)).toBe(401)
  const [pid = 0, ...others] = children()
  expect(others).toEqual([])
  return pid
}

test('the console begins in a process of its own with its first use, which holds no secret where others could read it', async () => {
  await expect
    .poll(() => service.log().find(({ event }) => event === 'started'))
    .toMatchObject({ console: consoleUrl })
  expect(children()).toEqual([])
  expect(await metric('console_process_up')).toBe(0)
  const pid = await openConsole()
  expect(await metric('console_process_up')).toBe(1)
  expect(await metric('console_process_resident_memory_bytes')).toBeGreaterThan(2 ** 20)
  expect(await metric('console_process_cpu_seconds')).toBeGreaterThan(0)
  const secrets = [rootKey, databaseUrl]
  const readable = ['cmdline', 'environ'].map(name => readFileSync(`/proc/${pid}/${name}`, 'utf8')).join()
  expect(secrets.filter(secret => readable.includes(secret))).toEqual([])
  // Each line is read as JSON, and so is whole.
  await expect.poll(() => service.log().map(({ event }) => event)).toContain('console_request')
  expect(service.log().map(({ event }) => event)).toContain('console_started')
  expect(await service.stop()).toBe(0)
  expect(isAlive(pid)).toBe(false)
  expect(service.log().at(-1)?.event).toBe('stopped')
})

async function tokenOf({ clientid, clientsecret }: Created): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: clientid, client_secret: clientsecret }
  const answer = await fetch(`${service.address}/oauth2/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

wholeRunTest('a stop ends well beside halves of requests and a receiver that answers nothing', async () => {
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  let called = false
  const receiver = createServer(socket => {
    called = true
    socket.on('error', () => {})
    onTestFinished(() => void socket.destroy())
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(() => void receiver.close())
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`
  const hook = ['--webhook-url', url, '--webhook-username', 'u', '--webhook-password', 'p', '--events', 'all']
  const create = ['partner', 'create', '--name', 'Slow', '--offer', 'starter', ...hook]
  const partner = await runJson<Created>(create, place)
  const token = await tokenOf(partner)
  await openConsole()
  const half = (address: string, lines: readonly string[]) =>
    new Promise<void>(resolve => {
      const { port, host } = new URL(address)
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {})
      const head = [...lines, `Host: ${host}`, 'Content-Length: 100'].join('\r\n')
      socket.write(`${head}\r\n\r\nhalf`, () => resolve())
      onTestFinished(() => void socket.destroy())
    })
  await half(service.address, [
    'POST /user/prefill HTTP/1.1',
    `Authorization: Bearer ${token}`,
    `x-api-key: ${partner.apikey}`,
    'Content-Type: application/json',
  ])
  await half(consoleUrl, [
    'POST /sign-in/x HTTP/1.1',
    `Origin: ${consoleUrl}`,
    'Content-Type: application/x-www-form-urlencoded',
  ])
  // What arrived before this was read.
  await statusOf(`${service.address}/healthz`)
  await statusOf(consoleUrl)
  // Without an answer an attempt takes fifteen seconds, longer than a stop may.
  await clientOf(service, partner).prefillUser({ userid: 'told-of', ...ada })
  await expect.poll(() => called, { timeout: 60_000 }).toBe(true)
  expect(await service.stop('SIGTERM')).toBe(0)
})

test('a console that is killed harms no request of a partner, is told in the log, and is back with its next use', async () => {
  const pid = await openConsole()
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => service.log().filter(({ event }) => event === 'console_ended')).toHaveLength(1)
  expect(service.log().find(({ event }) => event === 'console_ended')).toMatchObject({
    level: 'error',
    signal: 'SIGKILL',
  })
  expect((await fetch(`${service.address}/readyz`)).status).toBe(200)
  expect(await metric('console_process_ends_total')).toBe(1)
  expect(await metric('console_process_up')).toBe(0)
  await expect.poll(() => statusOf(consoleUrl), { timeout: 60_000 }).toBe(401)
  expect(children()).not.toContain(pid)
  expect(children()).toHaveLength(1)
})

test('signals that a terminal sends to all processes end the console only in the order of the service', async () => {
  const pid = await openConsole()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(pid, signal)
  expect(await openConsole()).toBe(pid)
  process.kill(pid, 'SIGINT')
  expect(await service.stop('SIGINT')).toBe(0)
  expect(isAlive(pid)).toBe(false)
})

test('a service that is killed leaves no console behind, and its port is free', async () => {
  const pid = await openConsole()
  await service.stop('SIGKILL')
  await expect.poll(() => isAlive(pid), { timeout: 60_000 }).toBe(false)
  const next = createServer()
  const { port } = new URL(consoleUrl)
  await new Promise<void>((resolve, reject) =>
    next.once('error', reject).listen(Number(port), '127.0.0.1', resolve),
  )
  await new Promise<void>(resolve => next.close(() => resolve()))
})

// Repeated with a new service when this machine was too slow to release the locks in time.
const inTime = { retry: { count: 9, condition: /^Held for too long/ } }

test('SIGTERM lets what was accepted be answered, by both processes', inTime, async () => {
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  const created = await runJson<Created>(['partner', 'create', '--name', 'Stopped'], place)
  const client = clientOf(service, created)
  const journal = openOwnJournal()
  const save = () =>
    journal.write('locked', 'prefill', () => client.prefillUser({ userid: 'locked', ...ada }))
  await save()
  const pid = await openConsole()
  const { path } = await runJson<{ path: string }>(['operator', 'add', 'Grace', '--role', 'admin'], place)
  const held = await holdLocks(databaseUrl, [
    `select 1 from users where partner_id = '${created.partnerid}' and userid = 'locked' for update`,
    'select 1 from operators for update',
    'lock table operator_sessions in share mode',
  ])
  // The sign-in comes first: it is longer on its way to its lock, and what waits for a lock is given up after two seconds.
  const signIn = fetch(consoleUrl + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: consoleUrl, 'content-type': 'application/x-www-form-urlencoded' },
  }).then(({ status }) => status, String)
  await allWait([signIn], held)
  const prefill = save().catch((error: { code: string }) => error.code)
  await allWait([signIn, prefill], held)
  const ended = service.stop('SIGTERM')
  await expect
    .poll(() => service.log().some(({ event }) => event === 'stopping'), { interval: 20 })
    .toBe(true)
  const heldMs = await held.release()
  const answers = [await prefill, await signIn]
  if (heldMs > 1500 && (answers[0] !== 'prefill saved' || answers[1] !== 303))
    throw new Error('Held for too long, as this machine is slow')
  expect(answers).toEqual(['prefill saved', 303])
  expect(await ended).toBe(0)
  expect(isAlive(pid)).toBe(false)
  const database = openDatabase({ url: databaseUrl }, { max: 1, ...patientDatabase })
  onTestFinished(database.close)
  await checkUsers({ journal, database, partnerId: created.partnerid })
  checkLogs(service.stdout() + service.stderr())
})

/** Resolves once as many sessions wait for a lock as there are requests. */
async function allWait(requests: readonly Promise<unknown>[], { waiting }: HeldLocks): Promise<void> {
  let isAnswered = false
  for (const request of requests) request.then(() => (isAnswered = true))
  while ((await waiting()) < requests.length) {
    if (isAnswered) throw new Error('Held for too long: one was given up before the other waited')
    await setTimeout(20)
  }
}
