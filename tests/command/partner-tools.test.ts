import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { webhooks } from '../../client/src/index.ts'
import { eventNames } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { wholeRunTest } from '../long.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { run, runJson, runRefused, startCommand } from './process.ts'

// The middle of a month: near its end swaps are locked.
const startAt = Date.parse('2026-11-12T15:00:00Z')
const service = forAllTests(() => startTestService({ startAt }))

function environmentOf(partner: TestPartner) {
  return {
    BASE_URL: service.baseUrl,
    CLIENT_ID: partner.clientId,
    CLIENT_SECRET: partner.clientSecret,
    API_KEY: partner.apiKey,
  }
}

/**
 * A receiver on loopback that answers with these statuses in turn, then with 200, and keeps the events that it
 * accepted.
 */
async function startReceiver(statuses: number[] = []) {
  const accepted: { headers: Record<string, string>; body: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const status = statuses.shift() ?? 200
    if (status === 200)
      accepted.push({
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(chunks).toString(),
      })
    response.writeHead(status).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, accepted }
}

/** A fixed address in front of a service that is replaced; while closed, it breaks every connection. */
async function startDoor() {
  const sockets = new Set<Socket>()
  let isShut = false
  const server = createTcpServer(client => {
    if (isShut) {
      client.destroy()
      return
    }
    const upstream = connect(Number(new URL(service.baseUrl).port), '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open() {
      isShut = false
    },
    shut() {
      isShut = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'partner-tools-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

describe('listen', () => {
  test('forwards each event once and in order, signed with its own secret, and goes on where it stopped', async () => {
    const partner = await service.newPartner()
    const place = { env: environmentOf(partner), cwd: await emptyFolder() }
    const { url, accepted } = await startReceiver([500])
    const forward = ['listen', '--forward-to', url, '--once', '--from-start']
    await partner.client.prefillUser({ userid: 'l-1' })
    await partner.client.prefillUser({ userid: 'l-2' })
    const first = await run(forward, place)
    expect(first.code).toBe(0)
    expect(accepted.map(({ body }) => (JSON.parse(body) as { userid: string }).userid)).toEqual([
      'l-1',
      'l-2',
    ])
    const secret = /whsec_\S+/.exec(first.stderr)?.[0] ?? ''
    for (const { headers, body } of accepted) await webhooks.verify({ headers, body }, { secret })
    await partner.client.prefillUser({ userid: 'l-3' })
    const second = await run(forward, place)
    expect(second.stderr).toContain(secret)
    expect(accepted.map(({ body }) => (JSON.parse(body) as { userid: string }).userid)).toEqual([
      'l-1',
      'l-2',
      'l-3',
    ])
    const { events } = await partner.client.listEvents({})
    expect(accepted.map(({ headers }) => headers['idempotency-key'])).toEqual(
      events.map(({ eventid }) => eventid),
    )
    expect(accepted.map(({ body }) => body)).toEqual(events.map(event => JSON.stringify(event.body)))
  })

  test('begins with what is raised from now on, where it was never run before', async () => {
    const partner = await service.newPartner()
    const place = { env: environmentOf(partner), cwd: await emptyFolder() }
    const { url, accepted } = await startReceiver()
    await partner.client.prefillUser({ userid: 'l-before' })
    await run(['listen', '--forward-to', url, '--once'], place)
    await partner.client.prefillUser({ userid: 'l-after' })
    await run(['listen', '--forward-to', url, '--once'], place)
    expect(accepted.map(({ body }) => (JSON.parse(body) as { userid: string }).userid)).toEqual(['l-after'])
  })

  test('a restart of the service ends no listener: it comes back and goes on from its cursor', async () => {
    const partner = await service.newPartner()
    const door = await startDoor()
    const place = { env: { ...environmentOf(partner), BASE_URL: door.url }, cwd: await emptyFolder() }
    const { url, accepted } = await startReceiver()
    const listener = startCommand(['listen', '--forward-to', url, '--from-start'], place)
    await partner.client.prefillUser({ userid: 'before' })
    await expect.poll(() => accepted.length).toBe(1)
    door.shut()
    await expect.poll(listener.stderr, { timeout: 30_000 }).toContain(`${door.url} is away`)
    await service.restart()
    await partner.connect().prefillUser({ userid: 'meanwhile' })
    door.open()
    await expect.poll(() => accepted.length).toBe(2)
    const { code, stderr } = await listener.stop()
    expect(code).toBe(0)
    expect(accepted.map(({ body }) => (JSON.parse(body) as { userid: string }).userid)).toEqual([
      'before',
      'meanwhile',
    ])
    expect(stderr).toContain(`${door.url} answers again.`)
    expect(stderr.match(/is away/g)).toHaveLength(1)
  })

  test('without a receiver it shows each event once', async () => {
    const partner = await service.newPartner()
    const place = { env: environmentOf(partner), cwd: await emptyFolder() }
    expect((await run(['listen', '--once'], place)).code).toBe(0)
    await run(['trigger', 'enrollment_successful', '--userid', 'first-user'], place)
    const shown = await run(['listen', '--once'], place)
    const { events } = await partner.client.listEvents({})
    expect(shown.stderr.trim().split('\n').slice(1)).toEqual(
      events.map(({ eventname, eventid }) => `${eventname} ${eventid} for first-user`),
    )
    expect(shown.stderr).toContain('enrollment_successful')
    expect((await run(['listen', '--once', '--json'], place)).stdout).toContain('"shown":0')
  })

  test('forwards to this machine only, and says what it lacks', async () => {
    const partner = await service.newPartner()
    const place = { env: environmentOf(partner), cwd: await emptyFolder() }
    for (const target of ['https://example.com/hook', 'http://10.0.0.1/', 'no address'])
      expect(await runRefused(['listen', '--forward-to', target], place)).toContain(
        'an address of this machine',
      )
    const without = await runRefused(['listen', '--forward-to', 'http://127.0.0.1:9'], { cwd: place.cwd })
    expect(without).toContain('Set CLIENT_ID, CLIENT_SECRET and API_KEY')
    const wrong = { ...place, env: { ...place.env, CLIENT_SECRET: 'wrong' } }
    expect(await runRefused(['listen', '--forward-to', 'http://127.0.0.1:9'], wrong)).toContain(
      'refused the credentials',
    )
    const twoLines = { ...place, env: { ...place.env, API_KEY: `${place.env.API_KEY}\nAPI_KEY=` } }
    expect(await runRefused(['listen', '--once'], twoLines)).toMatch(/^API_KEY has a space, a line break/)
  })
})

describe('the file of its cursor', () => {
  async function stage() {
    const partner = await service.newPartner()
    return { env: environmentOf(partner), cwd: await emptyFolder() }
  }
  const refusedAt = (file: string, place: { env: Record<string, string>; cwd: string }) =>
    runRefused(['listen', '--once', '--cursor', file], place)

  test('is named where it cannot be used, and no secret is left beside it', async () => {
    const place = await stage()
    await writeFile(join(place.cwd, 'file'), '')
    for (const [file, code] of [
      [join(place.cwd, 'nowhere/cursor'), 'ENOENT'],
      [join(place.cwd, 'file/cursor'), 'ENOTDIR'],
      [place.cwd, 'EISDIR'],
    ] as const)
      expect(await refusedAt(file, place)).toBe(
        `The cursor file ${file} cannot be used (${code}): name another with --cursor.`,
      )
    expect(existsSync(`${place.cwd}.new`)).toBe(false)
    expect(await readdir(place.cwd)).toEqual(['file'])
  })

  test('is damaged where it holds something else', async () => {
    const place = await stage()
    const file = join(place.cwd, 'cursor')
    for (const text of ['null', '{}', '[]', '{"secret":"whsec_c2VjcmV0","delivered":[1]}']) {
      await writeFile(file, text)
      expect(await refusedAt(file, place)).toContain(`${file} is damaged: delete it`)
    }
  })
})

describe('trigger', () => {
  test('raises each event that it knows', async () => {
    const partner = await service.newPartner()
    const place = { env: environmentOf(partner) }
    const help = await runRefused(['trigger', 'nothing', '--userid', 'u'], place)
    const names = /one of (.+);/.exec(help)?.[1]?.split(', ') ?? []
    expect(names.length).toBeGreaterThan(15)
    for (const name of names) {
      const answer = await runJson<{ raised: { eventids: string[] }[] }>(
        ['trigger', name, '--userid', `t-${name}`],
        place,
      )
      expect([name, answer.raised[0]?.eventids.length]).toEqual([name, 1])
    }
    // Of each other event it says how it comes about.
    for (const name of eventNames.filter(one => !names.includes(one)))
      expect(await runRefused(['trigger', name, '--userid', 'u'], place)).toMatch(
        new RegExp(`^No request raises ${name} at once: .{20}`),
      )
  })

  wholeRunTest('what it says of the events that come with time is how they come', async () => {
    await using moved = await startTestService({ startAt })
    const partner = await moved.newPartner()
    const env = { ...environmentOf(partner), BASE_URL: moved.baseUrl }
    await run(['trigger', 'offer_action_required', '--userid', 'ended'], { env })
    await run(['trigger', 'user_benefits_pendingswap', '--userid', 'swapped'], { env })
    await run(['trigger', 'enrollment_successful', '--userid', 'failed'], { env })
    await partner.client.swapBenefits({ userid: 'failed', add: ['identity'], remove: ['dental'] })
    await partner.client.advanceClock({ advanceto: '2026-12-01T06:00:00.000Z' })
    const last = async (userid: string) =>
      (await partner.client.listEvents({ userid })).events.at(-1)?.eventname
    expect([await last('ended'), await last('swapped'), await last('failed')]).toEqual([
      'benefit_enrollment_ended',
      'user_benefits_swap_successful',
      'user_benefits_swap_failed',
    ])
    // The partner's clock decides what is later, not that of this machine.
    await runJson(['trigger', 'benefit_enrollment_scheduled', '--userid', 'later'], { env })
  })

  test('takes a new user only, and says so of one that is there', async () => {
    const partner = await service.newPartner()
    await partner.client.prefillUser({ userid: 'taken' })
    const words = ['trigger', 'enrollment_successful', '--userid', 'taken']
    const place = { env: environmentOf(partner) }
    expect(await runRefused(words, place)).toMatch(/^There is a user taken already/)
    const withoutKey = { env: { ...place.env, API_KEY: '' } }
    expect(await runRefused(words, withoutKey)).toMatch(/^getUser was refused: invalid_api_key/)
    await partner.client.eraseUser({ userid: 'taken' })
    expect((await run(words, place)).code).toBe(0)
  })

  test('leaves nobody behind where a step is refused, so that the same words work later', async () => {
    const partner = await service.newPartner()
    const place = { env: environmentOf(partner) }
    await partner.client.advanceClock({ advanceto: '2026-11-30T20:00:00.000Z' })
    const words = ['trigger', 'user_benefits_pendingswap', '--userid', 'locked']
    expect(await runRefused(words, place)).toMatch(/change_locked/)
    await partner.client.advanceClock({ advanceto: '2026-12-01T20:00:00.000Z' })
    expect((await run(words, place)).code).toBe(0)
  })

  test('repeats for other users, and delivers again what it raised', async () => {
    const partner = await service.newPartner()
    const { url, accepted } = await startReceiver()
    await partner.client.createWebhook({ url, username: 'u', password: 'p', events: ['all'] })
    const words = [
      'trigger',
      'offer_upgrade_successful',
      '--userid',
      'r',
      '--repeat',
      '2',
      '--duplicate',
      '--out-of-order',
    ]
    const { raised } = await runJson<{ raised: { userid: string }[] }>(words, { env: environmentOf(partner) })
    expect(raised.map(({ userid }) => userid)).toEqual(['r', 'r-2'])
    const keysOf = (eventname: string) =>
      accepted
        .filter(({ body }) => body.includes(`"${eventname}"`))
        .map(({ headers }) => headers['idempotency-key'])
    await expect.poll(() => keysOf('offer_upgrade_successful').length).toBe(4)
    expect(new Set(keysOf('offer_upgrade_successful')).size).toBe(2)
    await expect.poll(() => keysOf('enrollment_successful').length).toBe(4)
  })
})

describe('link open', () => {
  test('prints a link that opens the registration page', async () => {
    const partner = await service.newPartner()
    await partner.client.prefillUser({ userid: 'p-1', firstname: 'Ada' })
    const { linkurl } = await runJson<{ linkurl: string }>(['link', 'open', 'p-1', '--print'], {
      env: environmentOf(partner),
    })
    expect(linkurl.startsWith(service.baseUrl)).toBe(true)
    expect((await fetch(linkurl)).status).toBe(200)
  })

  test('says which of its words the service refused, and why', async () => {
    const refused = await runRefused(['link', 'open', 'p-1', '--print', '--purpose', 'buy'], {
      env: environmentOf(await service.newPartner()),
    })
    expect(refused).toMatch(/was refused: bad_request\. purpose must be one of registration, benefits/)
  })
})

describe('without BASE_URL', () => {
  /** A folder with the data directory of a sandbox, whose demo partner is a new one of the service. */
  async function sandboxFolder() {
    const cwd = await emptyFolder()
    const partner = await service.newPartner()
    const demo = {
      baseurl: service.baseUrl,
      clientid: partner.clientId,
      clientsecret: partner.clientSecret,
      apikey: partner.apiKey,
    }
    await mkdir(join(cwd, 'data'))
    await writeFile(join(cwd, 'data/demo.json'), JSON.stringify(demo))
    return { cwd, partner }
  }

  test('own credentials are for the sandbox that was last started in the same folder', async () => {
    const { cwd } = await sandboxFolder()
    const partner = await service.newPartner()
    const { BASE_URL: _, ...env } = environmentOf(partner)
    await partner.client.prefillUser({ userid: 'p-2' })
    const { linkurl } = await runJson<{ linkurl: string }>(['link', 'open', 'p-2', '--print'], { env, cwd })
    expect(linkurl.startsWith(service.baseUrl)).toBe(true)
  })

  test('the sandbox and its demo partner are found by ENROLMENT_DATA, too, and --data takes precedence', async () => {
    const { cwd, partner } = await sandboxFolder()
    await partner.client.prefillUser({ userid: 'p-3' })
    const elsewhere = await emptyFolder()
    const words = ['link', 'open', 'p-3', '--print']
    const data = join(cwd, 'data')
    for (const [env, more] of [
      [{ ENROLMENT_DATA: data }, []],
      [{ ENROLMENT_DATA: elsewhere }, ['--data', data]],
    ] as const) {
      const { linkurl } = await runJson<{ linkurl: string }>([...words, ...more], { env, cwd: elsewhere })
      expect(linkurl.startsWith(service.baseUrl)).toBe(true)
    }
  })
})

test('a damaged demo.json is said to be damaged', async () => {
  const cwd = await emptyFolder()
  await mkdir(join(cwd, 'data'))
  for (const text of ['{}', 'null', '{"clientid":']) {
    await writeFile(join(cwd, 'data/demo.json'), text)
    expect(await runRefused(['people', 'list'], { cwd })).toMatch(
      /demo\.json is damaged: delete it; the next start/,
    )
  }
})

test('another program that answers at the address of the service is said to be one', async () => {
  const partner = await service.newPartner()
  const answers = [
    { type: 'text/html', of: (): string => '<html></html>' },
    { type: 'application/json', of: (): string => '{}' },
    // Behind a proxy that sends on the tokens alone.
    {
      type: 'text/html',
      of: (path: string) => (path === '/oauth2/token' ? '{"access_token":"t"}' : '<html>'),
    },
  ]
  let count = 0
  const server = createServer((request, response) => {
    const { type, of } = answers[count % answers.length] ?? { type: '', of: () => '' }
    response.writeHead(200, { 'content-type': type }).end(of(request.url ?? ''))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const foreign = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const place = { env: environmentOf(partner), cwd: await emptyFolder() }
  for (; count < answers.length; count += 1)
    for (const words of [
      ['people', 'list'],
      ['listen', '--once'],
    ])
      expect(await runRefused([...words, '--base-url', foreign], place)).toBe(
        `Another program answers at ${foreign}: name the service's address with --base-url.`,
      )
})

test('with live credentials nothing is changed for a try', async () => {
  await using live = await startTestService({ sandbox: false })
  const partner = await live.newPartner()
  const place = { env: { ...environmentOf(partner), BASE_URL: live.baseUrl } }
  for (const words of [
    ['trigger', 'user_erased', '--userid', 'u'],
    ['link', 'open', 'u', '--print'],
  ])
    expect(await runRefused(words, place)).toContain('is for a sandbox: these credentials are live')
})
