import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { webhooks } from '../../client/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { run, runRefused } from './process.ts'

const service = forAllTests(() => startTestService({ startAt: Date.parse('2026-11-12T15:00:00Z') }))
const partner = forAllTests(() => service.newPartner())

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const hook = { username: 'hook', password: 'correct horse', secret }
function environmentOf(one: TestPartner) {
  return {
    BASE_URL: service.baseUrl,
    CLIENT_ID: one.clientId,
    CLIENT_SECRET: one.clientSecret,
    API_KEY: one.apiKey,
    HOOK_USERNAME: hook.username,
    HOOK_PASSWORD: hook.password,
    HOOK_SECRET: hook.secret,
  }
}

/** The checks of a receiver, and its answers. */
type Manner = {
  readonly mostBytes?: number
  /** The values that it checks; without any, it accepts every delivery. */
  readonly checks?: Partial<typeof hook>
  readonly status?: (body: { userid: string; eventname: string }, isKnown: boolean) => number
}

/** A receiver on loopback; returns its address and the keys that it accepted. */
async function startReceiver({ mostBytes = 65_536, checks, status = () => 200 }: Manner) {
  const keys = new Set<string>()
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of request) {
      bytes += (chunk as Buffer).length
      if (bytes > mostBytes) return response.writeHead(413, { connection: 'close' }).end()
      chunks.push(chunk as Buffer)
    }
    const body = Buffer.concat(chunks)
    if (checks) {
      try {
        await webhooks.verify({ headers: request.headers, body }, checks as typeof hook)
      } catch {
        return response.writeHead(401).end()
      }
    }
    const key = String(request.headers['idempotency-key'])
    const answer = status(JSON.parse(body.toString()) as { userid: string; eventname: string }, keys.has(key))
    keys.add(key)
    return response.writeHead(answer).end()
  }
  const server = createServer(
    (request, response) => void receive(request, response).catch(() => response.destroy()),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, keys }
}

type Finding = { check: string; result: string; told: string; remedy?: string }
/** Runs the doctor; returns the results that are not ok, all findings and the exit code. */
async function examine(url: string, more: { env?: Record<string, string>; cwd?: string } = {}) {
  const { code, stdout, stderr } = await run(['doctor', url, '--json'], {
    ...more,
    env: { ...environmentOf(partner), ...more.env },
  })
  expect(stdout, stderr).toMatch(/^\{/)
  const { findings, userid } = JSON.parse(stdout) as { findings: Finding[]; userid: string }
  const wrong = Object.fromEntries(
    findings.filter(({ result }) => result !== 'ok').map(({ check, result }) => [check, result]),
  )
  return { code, findings, wrong, userid }
}

test('a receiver that does as the guide says passes every check', async () => {
  const { url, keys } = await startReceiver({ checks: hook })
  const { code, wrong, findings, userid } = await examine(url)
  expect({ code, wrong }).toEqual({ code: 0, wrong: {} })
  expect(findings.map(({ check }) => check)).toEqual([
    'a delivery',
    'a duplicate',
    'two at once',
    'an older event',
    'an unknown name',
    'a long userid',
    'a slow body',
    'a stranger',
    'a wrong password',
    'a wrong signature',
    'an old one',
    'a big body',
  ])
  expect(keys.size).toBe(4)
  expect(await partner.client.getUser({ userid })).toMatchObject({ status: 'erased' })
})

test('who believes everybody fails for strangers, recordings and big bodies, with a remedy for each', async () => {
  const { url } = await startReceiver({ mostBytes: 2 ** 30 })
  const { code, wrong, findings } = await examine(url)
  expect({ code, wrong }).toEqual({
    code: 1,
    wrong: {
      'a stranger': 'fail',
      'a wrong password': 'fail',
      'a wrong signature': 'fail',
      'an old one': 'warn',
      'a big body': 'fail',
    },
  })
  for (const { result, remedy } of findings) expect(remedy !== undefined).toBe(result !== 'ok')
})

test('who checks the password only is warned, and does not fail', async () => {
  const { username, password } = hook
  const { url } = await startReceiver({ checks: { username, password } })
  const { code, wrong } = await examine(url)
  expect({ code, wrong }).toEqual({ code: 0, wrong: { 'a wrong signature': 'warn', 'an old one': 'warn' } })
})

test.each([
  [
    'a duplicate',
    ['a duplicate', 'two at once', 'an older event', 'a slow body'],
    (_: unknown, isKnown: boolean) => (isKnown ? 409 : 200),
  ],
  [
    'an unknown name',
    ['an unknown name'],
    ({ eventname }: { eventname: string }) => (eventname.startsWith('doctor') ? 422 : 200),
  ],
  ['a long userid', ['a long userid'], ({ userid }: { userid: string }) => (userid.length > 64 ? 500 : 200)],
] as const)('who refuses %s is told', async (_, failing, status) => {
  const { url } = await startReceiver({ checks: hook, status })
  const { code, wrong } = await examine(url)
  expect({ code, wrong }).toEqual({ code: 1, wrong: Object.fromEntries(failing.map(name => [name, 'fail'])) })
})

test('a body that is read up to its first piece only is found', async () => {
  const server = createServer((request, response) => {
    request.once('data', (chunk: Buffer) => {
      const isWhole = chunk.length === Number(request.headers['content-length'])
      response.writeHead(isWhole ? 200 : 400).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { wrong } = await examine(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  expect(wrong).toMatchObject({ 'a slow body': 'fail' })
})

test('where not even a plain delivery is accepted it says so, and stops', async () => {
  const { url } = await startReceiver({ checks: { ...hook, password: 'another' } })
  const { code, findings } = await examine(url)
  expect(code).toBe(1)
  expect(findings).toEqual([
    {
      check: 'a delivery',
      result: 'fail',
      told: expect.stringMatching(/^401 after/),
      remedy: expect.stringContaining('HOOK_SECRET'),
    },
  ])
  const nowhere = await examine('http://127.0.0.1:9/')
  expect(nowhere.findings).toEqual([
    expect.objectContaining({
      told: expect.stringContaining('ECONNREFUSED'),
      remedy: expect.stringContaining('start your receiver'),
    }),
  ])
})

test('it takes the secret of `listen` where no other is given', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'doctor-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  await writeFile(join(cwd, '.enrolment-listen.json'), JSON.stringify({ secret, delivered: [] }))
  const { url } = await startReceiver({ checks: { username: 'enrolment', password: secret, secret } })
  const { HOOK_SECRET, HOOK_PASSWORD, HOOK_USERNAME, ...env } = environmentOf(partner)
  const { code, stdout } = await run(['doctor', url], { env, cwd })
  expect(code).toBe(0)
  expect(stdout).toMatch(/^OK {4}a delivery/)
})

test('it asks this machine and own endpoints only, in a sandbox only, and says what it lacks', async () => {
  const env = environmentOf(partner)
  for (const url of ['https://example.com/hook', 'http://10.0.0.1/', 'no address'])
    expect(await runRefused(['doctor', url], { env })).toContain('an address of this machine')
  const { HOOK_SECRET, ...without } = env
  const cwd = await mkdtemp(join(tmpdir(), 'doctor-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  expect(await runRefused(['doctor', 'http://127.0.0.1:9/'], { env: without, cwd })).toContain(
    'Set HOOK_SECRET',
  )
  await using live = await startTestService({ sandbox: false })
  const other = { ...environmentOf(await live.newPartner()), BASE_URL: live.baseUrl }
  expect(await runRefused(['doctor', 'http://127.0.0.1:9/'], { env: other })).toContain(
    'these credentials are live',
  )
})
