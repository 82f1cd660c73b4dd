import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startReceiver } from '../webhooks/receiver.ts'
import { type Created, clientOf, codeOf, newWorkplace, type Workplace } from './place.ts'
import { root, run, runJson, type ServiceProcess, startKeptProcess, startProcess } from './process.ts'

let place: Workplace
let service: ServiceProcess
let remove: () => Promise<void>
beforeAll(async () => {
  const made = await newWorkplace()
  place = made.place
  remove = made.remove
  service = await startKeptProcess(['dev', '--port', '0'], place)
})
afterAll(async () => {
  await service.stop()
  await remove()
})

function newPartner() {
  return runJson<Created>(['partner', 'create', '--name', 'Careful'], place)
}

test('a password comes from a file or standard input without its line break; on the command line it warns', async () => {
  const receiver = await startReceiver()
  const partner = await newPartner()
  const client = clientOf(service, partner)
  const add = ['webhook', 'add', partner.partnerid, '--url', receiver.url, '--username', 'hook']
  const file = join(place.cwd, 'password')
  await writeFile(file, 'from a file\n', { mode: 0o600 })
  const byFile = await run([...add, '--password-file', file, '--json'], place)
  const byInput = execFileSync(
    process.execPath,
    [join(root, 'service/bin/enrolment.js'), ...add, '--password-file', '-', '--json'],
    {
      input: 'from standard input\n',
      env: { PATH: process.env['PATH'], ...place.env },
      cwd: place.cwd,
      encoding: 'utf8',
    },
  )
  const plain = await run([...add, '--password', 'in plain sight', '--json'], place)
  expect([byFile.stderr, byFile.code]).toEqual(['', 0])
  expect(plain.stderr).toMatch(/--password can be read by others .* use --password-file/)
  for (const [said, password] of [
    [byFile.stdout, 'from a file'],
    [byInput, 'from standard input'],
    [plain.stdout, 'in plain sight'],
  ] as const) {
    const { webhookid } = JSON.parse(said) as { webhookid: string }
    const before = receiver.deliveries.length
    await client.testWebhook({ webhookid })
    await receiver.received(before + 1)
    const expected = `Basic ${Buffer.from(`hook:${password}`).toString('base64')}`
    expect(receiver.deliveries.at(-1)?.authorization).toBe(expected)
  }
  const both = await run([...add, '--password', 'x', '--password-file', file], place)
  expect([both.code, both.stderr]).toEqual([2, expect.stringContaining('not both')])
  await writeFile(file, 'two\nlines\n')
  expect((await run([...add, '--password-file', file], place)).stderr).toContain('must hold one line')
  await writeFile(file, Buffer.from([0xff, 0xfe]))
  expect((await run([...add, '--password-file', file], place)).stderr).toContain('is not UTF-8')
  await receiver.close()
})

test('`partner show` tells when each credential was last used', async () => {
  const partner = await newPartner()
  type Shown = { credentials: { kind: string; lastusedat: string | null }[] }
  const show = () => runJson<Shown>(['partner', 'show', partner.partnerid], place)
  expect((await show()).credentials.map(one => one.lastusedat)).toEqual([null, null])
  const before = Date.now()
  expect(await codeOf(clientOf(service, partner).listWebhooks({}))).toBe('')
  await expect
    .poll(
      async () =>
        (await show()).credentials.filter(one => Date.parse(one.lastusedat ?? '') >= before - 1000).length,
    )
    .toBe(2)
})

test('`serve` for other machines refuses to start without an https address, unless told that this is meant', async () => {
  const { place: live, remove: removeLive } = await newWorkplace()
  const words = ['serve', '--port', '0', '--host', '0.0.0.0']
  const refused = await run(words, live)
  expect([refused.code, refused.stdout]).toEqual([1, ''])
  expect(refused.stderr).toMatch(/ENROLMENT_BASE_URL must be the https address .*--insecure-http/)
  const meant = await startProcess([...words, '--insecure-http'], live)
  await expect.poll(() => meant.log().map(({ event }) => event)).toContain('insecure_base_url')
  expect(await meant.stop()).toBe(0)

  // Behind an https address browsers are told to use only https; on plain loopback they are not.
  const secure = { ...live, env: { ...live.env, ENROLMENT_BASE_URL: 'https://benefits.example.com' } }
  const behind = await startProcess(words, secure)
  const port = new URL(behind.address).port
  const { headers } = await fetch(`http://127.0.0.1:${port}/healthz`)
  expect(headers.get('strict-transport-security')).toMatch(/^max-age=\d{7,}/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(await behind.stop()).toBe(0)
  await removeLive()
})

/** The status of the first answer to bytes that no client sends. */
function statusOf(address: string, bytes: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address)
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    socket.once('data', chunk => {
      resolve(Number(chunk.toString('latin1').slice(9, 12)))
      socket.destroy()
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('closed without an answer')))
  })
}

test('the demo outlives addresses that are none, and answers under its own names only', async () => {
  const site = /http:\/\/localhost:\d+(?=\/demo)/.exec(service.stdout())?.[0] ?? ''
  const { host } = new URL(site)
  for (const target of ['//', 'http://', '/%', '/%ff', '*', '/..//..', '//[', '/demo?%']) {
    const status = await statusOf(
      site,
      `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
    )
    expect([target, status]).toEqual([target, expect.toBeOneOf([200, 301, 400, 404])])
  }
  const foreign = 'GET /demo HTTP/1.1\r\nHost: attacker.example\r\nConnection: close\r\n\r\n'
  expect(await statusOf(site, foreign)).toBe(421)
  const inbox = await fetch(`${site}/demo/inbox`, { headers: { origin: 'http://attacker.example' } })
  expect(inbox.status).toBe(403)
  expect((await fetch(`${site}/demo`)).status).toBe(200)
  expect((await fetch(`${service.address}/readyz`)).status).toBe(200)
})
