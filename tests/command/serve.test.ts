import { randomBytes } from 'node:crypto'
import { access, copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readMigrations } from '../../service/src/db/migrations.ts'
import { ada } from '../rig.ts'
import { type Created, clientOf, codeOf, newWorkplace, type Workplace } from './place.ts'
import {
  newDataDir,
  root,
  run,
  runJson,
  runRefused,
  type ServiceProcess,
  startKeptProcess,
  startProcess,
} from './process.ts'

// One production service of its own process.
let place: Workplace
let service: ServiceProcess
const endings: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  const { place: made, remove } = await newWorkplace()
  place = made
  service = await startKeptProcess(['serve', '--port', '0', '--json'], {
    ...place,
    env: { ...place.env, ...limits },
  })
  endings.push(() => service.stop(), remove)
})
afterAll(async () => {
  for (const end of endings) await end()
})

// Each with a different value, so that the test sees where it appears.
const limits = {
  ENROLMENT_BODY_KIB: '61',
  ENROLMENT_BODY_NESTING: '7',
  ENROLMENT_HEADERS: '62',
  ENROLMENT_HEADERS_KIB: '9',
  ENROLMENT_HEADERS_SECONDS: '11',
  ENROLMENT_REQUEST_SECONDS: '14',
  ENROLMENT_FAILED_AUTHENTICATIONS: '59',
}

test('the limits of the environment are those of the service', async () => {
  const { info } = (await (await fetch(`${service.address}/openapi.json`)).json()) as {
    info: { description: string }
  }
  expect(info.description).toContain(
    'A body has at most 61 KiB and is nested at most 7 deep; a request has at most 62 headers, of 9 KiB together. ' +
      'The headers have to arrive within 11 seconds, the whole request within 14. After 59 failed',
  )
})

test('with --json it says where it is in one object, after the line that it listens', async () => {
  const { address } = service
  await expect
    .poll(service.stdout)
    .toBe(`listening on ${address}\n${JSON.stringify({ address, baseurl: address })}\n`)
})

const demoCatalogue = join(root, 'service/assets/demo-catalogue.yaml')
test('migrate brings the schema up, and may be run twice at once', async () => {
  const { place: empty, remove } = await newWorkplace({}, { empty: true })
  endings.push(remove)
  const both = await Promise.all([
    runJson<{ applied: string[] }>(['migrate'], empty),
    runJson<{ applied: string[] }>(['migrate'], empty),
  ])
  // Each file was applied by exactly one of the two.
  const applied = both.flatMap(one => one.applied)
  expect(applied.sort()).toEqual((await readMigrations()).map(({ name }) => name))
  expect(await run(['migrate'], empty)).toEqual({
    code: 0,
    stdout: 'The schema is up to date.\n',
    stderr: '',
  })
  expect(await runJson(['partner', 'list'], empty)).toEqual({ partners: [] })
})

describe('the catalogue', () => {
  test('is checked without being published, then published once', async () => {
    expect(await runJson(['catalogue', 'check', demoCatalogue], place)).toEqual({
      ok: true,
      benefits: expect.any(Number),
      offers: 3,
      warnings: [],
    })
    expect(await runJson(['catalogue', 'publish', demoCatalogue], place)).toEqual({
      version: 1,
      published: true,
    })
    expect(await runJson(['catalogue', 'publish', demoCatalogue], place)).toEqual({
      version: 1,
      published: false,
    })
  })

  test('with mistakes is refused with line and remedy of each', async () => {
    const file = join(place.cwd, 'broken.yaml')
    await copyFile(demoCatalogue, file)
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      text.replace(/benefittype: \w+/, 'benefittype: gold').replace(/rank: 10/, 'rank: ten'),
    )
    for (const verb of ['check', 'publish'])
      expect(await run(['catalogue', verb, file], place)).toEqual({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/^2 problems in the catalogue:\nline \d+: [^{]*\nline \d+: [^{]*\n$/),
      })
    await writeFile(file, 'offers: [}')
    expect(await run(['catalogue', 'check', file], place)).toEqual({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^1 problem in the catalogue:\nline 1: .*\n$/),
    })
  })
})

describe('a database that is not for this', () => {
  test('in production no clock is moved', async () => {
    const { partnerid } = await runJson<Created>(['partner', 'create', '--name', 'Timeless'], place)
    expect(await runRefused(['clock', 'advance', partnerid, '2099-01-01T00:00:00Z'], place)).toBe(
      'This is not a sandbox: only the clock of a sandbox can be moved.',
    )
  })

  test('a production one is refused to dev', async () => {
    expect(await lastLine(run(['dev', '--port', '0'], place))).toMatch(
      /^This database is a production one: `enrolment dev` never touches it/,
    )
  })

  test('one whose keys are others is refused by every command that needs keys', async () => {
    const others = {
      ...place,
      env: { ...place.env, ENROLMENT_ROOT_KEY: randomBytes(32).toString('base64') },
    }
    for (const words of [
      ['serve', '--port', '0'],
      ['partner', 'list'],
    ])
      expect(await lastLine(run(words, others))).toMatch(
        /^The keys are not those of this database: it belongs to the root key \S+, and these are \S+\. Restore the keyring\.json/,
      )
  })

  test('a port that is taken is named', async () => {
    const { port } = new URL(service.address)
    const { code, stderr, stdout } = await run(['serve', '--port', port], place)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(
      new RegExp(`^Port ${port} is taken: .*another --port \\(0 picks a free one\\)`, 'm'),
    )
  })

  test('a host that is not this machine’s is named', async () => {
    expect(
      await lastLine(run(['serve', '--port', '0', '--host', '192.0.2.1', '--insecure-http'], place)),
    ).toMatch(/^It cannot listen on 192\.0\.2\.1:0 \(EADDRNOTAVAIL\)/)
  })

  test.each(['192.0.2.1', 'no such host'])('a host %s is refused before a folder is made', async host => {
    const dataDir = join(await newDataDir(), 'data')
    expect(await lastLine(run(['dev', '--port', '0', '--host', host, '--data', dataDir]))).toMatch(
      /^It cannot listen on/,
    )
    await expect(access(dataDir)).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

test('the log of the service holds JSON lines, and neither secrets nor personal data', async () => {
  const created = await runJson<Created>(['partner', 'create', '--name', 'Logged'], place)
  const client = clientOf(service, created)
  await client.prefillUser({ userid: 'canary-user', ...ada }, { idempotencyKey: 'canary-key' })
  for (const path of ['/healthz', '/readyz']) await fetch(service.address + path)
  await client.getUser({ userid: 'canary-user' })
  await codeOf(client.cancelUser({ userid: 'canary-user' }))
  // Lines are gathered for some milliseconds before they are written.
  const requests = () => service.log().filter(line => line.event === 'request')
  await expect.poll(() => requests().some(line => line['method'] === 'DELETE')).toBe(true)
  expect(requests().length).toBeGreaterThan(2)
  const log = service.log()
  expect(log.every(line => typeof line.event === 'string' && typeof line['at'] === 'string')).toBe(true)
  expect(log.filter(line => /^\/(health|ready)z$/.test(String(line['route'])))).toEqual([])
  const { version } = JSON.parse(await readFile(join(root, 'service/package.json'), 'utf8'))
  expect(log.find(line => line.event === 'started')).toMatchObject({ level: 'info', version })
  // Node 20, the least that is promised, gets no more fixes.
  if (process.version.startsWith('v20.'))
    expect(log.filter(line => line.event === 'node_unsupported')).toMatchObject([{ since: '2026-04-30' }])
  const text = service.stderr()
  for (const value of Object.values(ada).flatMap(part => (typeof part === 'string' ? [part] : [])))
    if (value.length > 4) expect(text).not.toContain(value)
  for (const value of ['canary', created.clientsecret, created.apikey, 'Canary Drive'])
    expect(text.toLowerCase()).not.toContain(value.toLowerCase())
})

test('with ENROLMENT_LOG=warn no line tells what was merely done', async () => {
  const quiet = await startProcess(['serve', '--port', '0', '--insecure-http'], {
    ...place,
    env: { ...place.env, ENROLMENT_LOG: 'warn' },
  })
  expect((await fetch(`${quiet.address}/nowhere`)).status).toBe(404)
  expect(await quiet.stop()).toBe(0)
  expect(quiet.log().filter(line => !['warn', 'error'].includes(String(line['level'])))).toEqual([])
  expect(await refusalOf({ ENROLMENT_LOG: 'loud' })).toMatch(
    /^ENROLMENT_LOG must be one of error, warn, info/,
  )
})
function refusalOf(env: Readonly<Record<string, string>>): Promise<string> {
  return runRefused(['serve', '--port', '0'], { ...place, env: { ...place.env, ...env } })
}

async function lastLine(ended: ReturnType<typeof run>): Promise<string> {
  const { code, stdout, stderr } = await ended
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  return stderr.trim().split('\n').at(-1) ?? ''
}
