import dns from 'node:dns'
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { startService } from '../../service/src/service.ts'
import { forAllTests } from '../for-all-tests.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { ada, startTestService } from '../rig.ts'
import { startSecondService } from '../second-service.ts'
import { send, sendBytes } from './raw.ts'
import { fieldsOf, refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

// Headers, bytes and connections, which a client does not show or cannot send.

const service = forAllTests(startTestService)
const partner = forAllTests(() => service.newPartner())

test('two Host headers are a 400', async () => {
  const headers = [['Host', 'another']] as const
  expect(await sendBytes(service, { method: 'POST', path: '/user/prefill', headers })).toMatchObject({
    status: 400,
    code: 'duplicate_header',
  })
})

test('a whole address in the place of a path is read as its path', async () => {
  const target = `${service.baseUrl}/oauth2/token`
  const { status, headers } = await sendRaw(service.baseUrl, rawRequest('GET', target, []))
  expect([status, headers['allow']]).toEqual([405, 'POST'])
})

test('every answer says nosniff; pages give up what no page of ours needs', async () => {
  const answers = [await send(service, 'GET', '/healthz'), await send(service, 'GET', '/nowhere')]
  const pages = [await send(service, 'GET', '/docs'), await fetch(`${service.baseUrl}/register`)]
  for (const { headers } of [...answers, ...pages]) {
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // Its base address is plain http.
    expect(headers.get('strict-transport-security')).toBeNull()
  }
  for (const { headers } of pages) {
    expect(headers.get('permissions-policy')).toMatch(/camera=\(\)/)
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  }
})

test('a caller that goes away in the middle of its body is logged as no failure', async () => {
  const { hostname, port } = new URL(service.baseUrl)
  const token = await partner.token()
  for (const path of ['/user/prefill', '/register/language']) {
    const type = path === '/user/prefill' ? 'application/json' : 'application/x-www-form-urlencoded'
    const before = service.logged.length
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nx-api-key: ${partner.apiKey}\r\nContent-Type: ${type}\r\nContent-Length: 90\r\n\r\n{`,
      () => socket.resetAndDestroy(),
    )
    await expect
      .poll(() => service.logged.slice(before).filter(({ event }) => event === 'request').length)
      .toBeGreaterThan(0)
    expect(service.logged.slice(before).filter(({ event }) => event === 'failure')).toEqual([])
  }
})

test('events that are no list, or hold "all" beside names, are refused by one message that says how to ask for all', async () => {
  const wish = { url: 'http://127.0.0.1:9/hook', username: 'u', password: 'p' }
  const wrong = [
    [unchecked<['all']>('all'), 'events must be a list, not text'],
    [['all', 'user_erased'], 'events must have "all" by itself, or names without it'],
  ] as const
  for (const [events, message] of wrong)
    expect(
      await refusalOf(partner.client.createWebhook({ ...wish, events: unchecked(events) })),
    ).toMatchObject({
      errors: [{ field: 'events', message }],
    })
})

test('an unknown offer is refused by its field, wherever one is named', async () => {
  await partner.client.createUser({ userid: 'offers', ...ada, offername: 'starter' })
  const calls = [
    () => partner.client.createUser({ userid: 'new', ...ada, offername: 'nonsense' }),
    () => partner.client.createLinkToken({ userid: 'new', offername: 'nonsense' }),
    () => partner.client.changeOffer({ userid: 'offers', offername: 'nonsense' }),
    () =>
      partner.client.getBenefits({
        userid: 'offers',
        age: 36,
        state: 'FL',
        zipcode: '33101',
        partnername: '',
        offername: 'nonsense',
      }),
  ]
  for (const call of calls) {
    const refusal = await refusalOf(call())
    expect(refusal).toMatchObject({ code: 'offername_unknown' })
    expect(fieldsOf(refusal)).toEqual(['offername'])
  }
})

test('secrets that are none of ours are counted on the page too', async () => {
  await using live = await startTestService({ sandbox: false })
  live.advance(60_000 - (live.now() % 60_000))
  const asked = { headers: { authorization: 'Session nonsense' } }
  const statuses = new Set<number>()
  for (let count = 0; count < 62; count += 1)
    statuses.add((await fetch(`${live.baseUrl}/register`, asked)).status)
  expect(statuses).toEqual(new Set([401, 429]))
  expect((await fetch(`${live.baseUrl}/register`)).status).toBe(401)
})

test('a database that takes no writes makes the process not ready, until it takes them again', async () => {
  await using live = await startTestService()
  // Of the table by which the process tries whether its writes are taken.
  await live.database.query(sql`alter table event_log_heads add constraint no_writes check (false) not valid`)
  expect((await send(live, 'GET', '/readyz')).status).toBe(503)
  expect((await send(live, 'GET', '/healthz')).status).toBe(200)
  await live.database.query(sql`alter table event_log_heads drop constraint no_writes`)
  await expect.poll(async () => (await send(live, 'GET', '/readyz')).status).toBe(200)
})

test('once it drains, it is not ready, serves on, and asks each caller to connect anew', async () => {
  await using live = await startTestService()
  expect((await send(live, 'GET', '/readyz')).headers.get('connection')).toBe('keep-alive')
  live.service().drain()
  expect((await send(live, 'GET', '/readyz')).status).toBe(503)
  const other = await live.newPartner()
  expect(await other.client.prefillUser({ userid: 'late' })).toBe('prefill saved')
  expect((await send(live, 'GET', '/healthz')).headers.get('connection')).toBe('close')
})

test('a service on localhost has one listener, which does all that is done before a request is read', async () => {
  const { lookup } = dns
  // As on most machines: both addresses have the name. Its other forms are not used here.
  const both = ((name: string, options: dns.LookupOptions, done: (...found: unknown[]) => void) =>
    name === 'localhost' && options.all
      ? done(null, [
          { address: '127.0.0.1', family: 4 },
          { address: '::1', family: 6 },
        ])
      : lookup(name, options, done as never)) as typeof lookup
  dns.lookup = both
  onTestFinished(() => {
    dns.lookup = lookup
  })
  const local = await startSecondService(service, {
    start: options => startService({ ...options, host: 'localhost' }),
  })
  onTestFinished(() => local.close())
  expect(local.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect((await fetch(`${local.address}/healthz`)).status).toBe(200)
  const other = connect({ host: '::1', port: Number(new URL(local.address).port) })
  await expect(once(other, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' })
})
