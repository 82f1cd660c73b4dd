import { describe, expect, test } from 'vitest'
import { type ConsoleGate, openConsoleGate } from '../../service/src/assembly/console-gate.ts'
import { writePolicy } from '../../service/src/console/requests/store.ts'
import { sql } from '../../service/src/db/sql.ts'
import { partnerOf } from '../../service/src/partners/keys.ts'
import { findPartners } from '../../service/src/partners/store.ts'
import type { Service } from '../../service/src/service.ts'
import { addEndpoint } from '../../service/src/webhooks/endpoint/endpoints.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService, type TestService } from '../rig.ts'
import { startReceiver } from '../webhooks/receiver.ts'
import { type OperatorBrowser, signIn } from './operator-browser.ts'

// The console in a process of its own, as `serve` starts it; what it tells the process of the service is kept in `told`.
const service = forAllTests(() => startTestService({ clock: Date.now }))
const told: string[] = []
let refused = false
let isDiskFull = false

async function openApart(): Promise<ConsoleGate & { [Symbol.asyncDispose](): Promise<void> }> {
  const running = service.service()
  const { dispatcher } = running
  const watched: Service = {
    ...running,
    dispatcher: {
      ...dispatcher,
      nudge: partnerIds => {
        told.push(`deliver to ${[...(partnerIds ?? [])].join()}`)
        dispatcher.nudge(partnerIds)
      },
      refresh: () => {
        told.push('refresh endpoints')
        dispatcher.refresh()
      },
    },
    forget: partnerId => {
      told.push(`forget ${partnerId}`)
      running.forget(partnerId)
    },
    mayNotWrite: () => refused,
    listErasure: async erasure => {
      if (isDiskFull) throw new Error('no room')
      told.push(`list ${erasure.partnerId} ${erasure.serviceId}`)
    },
  }
  const gate = await openConsoleGate({
    service: watched,
    settings: {
      at: { host: '127.0.0.1', port: 0, url: undefined },
      address: service.address,
      keys: { dataDir: '', rootKey: service.rootKey },
      installation: { sandbox: true },
      logLevel: 'info',
    },
    log: (event, fields = {}) => service.logged.push({ event, fields }),
  })
  return { ...gate, [Symbol.asyncDispose]: gate.close }
}

const gate = forAllTests(openApart)
/** An operator at that console. */
function signInApart(role: 'admin' | 'support' | 'viewer'): Promise<OperatorBrowser> {
  const running = { ...service.service(), consoleUrl: gate.url }
  return signIn({ ...service, service: () => running } satisfies TestService, role)
}
const admin = forAllTests(() => signInApart('admin'))
const partner = forAllTests(() => service.newPartner({ name: 'Harbor Rides' }))
function newUser(userid: string) {
  return partner.client.createUser({ ...ada, userid, offername: 'starter', benefits: ['telehealth'] })
}

function factOf(text: string, name: string): string {
  return new RegExp(`<dt>${name}</dt><dd>(.*?)</dd>`, 's').exec(text)?.[1] ?? ''
}

describe('a console in a process of its own', () => {
  test('shows the figures of the process that serves partners, and its own beside them', async () => {
    await newUser('counted-1')
    const { text } = await admin.get('/service')
    const metrics = await service.service().metrics()
    const counts = [...metrics.matchAll(/^http_requests_total\{.*\} (\d+)$/gm)]
    const answered = counts.reduce((sum, [, count]) => sum + Number(count), 0)
    expect(answered).toBeGreaterThan(0)
    expect(factOf(text, 'Requests answered')).toBe(String(answered))
    expect(factOf(text, 'Users remembered')).toBe(/^memory_users (\d+)$/m.exec(metrics)?.[1])
    expect(text).toContain('The process that serves partners')
    expect(text).toContain('A process of its own')
    const own = text.slice(text.indexOf('>The console<'))
    expect(Number.parseInt(factOf(own, 'Memory'), 10)).toBeGreaterThan(0)
    expect(factOf(own, 'Database connections')).toMatch(/^\d busy of 6$/)
  })

  test('stops a partner in that process, too, and lets it in again', async () => {
    const other = await service.newPartner({ name: 'Stopping' })
    const outcome = (userid: string) =>
      other.client.prefillUser({ ...ada, userid }).catch((error: { status: number }) => error.status)
    expect(await outcome('stop-1')).toBe('prefill saved')
    told.length = 0
    await admin.post(`/partners/${other.partnerId}/disable`, { reason: 'contract ended' })
    await expect.poll(() => told).toEqual([`forget ${other.partnerId}`])
    expect(await outcome('stop-2')).toBe(401)
    await admin.post(`/partners/${other.partnerId}/enable`, { reason: 'renewed' })
    await expect.poll(() => told).toHaveLength(2)
    expect(await outcome('stop-3')).toBe('prefill saved')
  })

  test('wakes the delivery there: for an endpoint that is enabled, and for the events of an act', async () => {
    await using hosted = await startReceiverFor(partner.partnerId)
    const { receiver, endpoint } = hosted
    await admin.post(`/webhooks/${endpoint}/pause`, { reason: 'partner asked' })
    const { serviceid } = await newUser('held-1')
    told.length = 0
    await admin.post(`/webhooks/${endpoint}/enable`, { reason: 'partner is back' })
    await expect.poll(() => told).toEqual(['refresh endpoints'])
    await receiver.received(1)

    told.length = 0
    const path = `/users/${serviceid}/act/cancel`
    const wish = { effective: 'endofperiod', cause: 'nonpayment' }
    const { text } = await admin.post(path, wish)
    const seen = /name="seen" value="([^"]+)"/.exec(text)?.[1] ?? ''
    const done = await admin.post(path, { ...wish, sure: 'yes', seen, reason: 'call 12' })
    expect(done.text).toContain('canceled by an operator')
    await expect.poll(() => told).toEqual([`deliver to ${partner.partnerId}`])
    await expect
      .poll(() => receiver.deliveries.map(({ eventname }) => eventname), { timeout: 60_000 })
      .toContain('offer_cancel_scheduled')
  })

  test('has an erasure listed there before it says that it is done, and says so when it cannot be', async () => {
    await writePolicy(service.database, 'erase', false)
    const erase = async (userid: string) => {
      const { serviceid } = await newUser(userid)
      const path = `/users/${serviceid}/erase`
      const { text } = await admin.get(path)
      const seen = (/name="seen" value="([^"]+)"/.exec(text)?.[1] ?? '').replaceAll('&quot;', '"')
      return { serviceid, answer: await admin.post(path, { seen, sure: 'yes', reason: 'a letter' }) }
    }
    told.length = 0
    const { serviceid, answer } = await erase('erased-1')
    expect(answer.path).toBe(`/users/${serviceid}`)
    expect(told).toContain(`list ${partner.partnerId} ${serviceid}`)
    isDiskFull = true
    const unlisted = await erase('erased-2').finally(() => {
      isDiskFull = false
    })
    expect(unlisted.answer.status).toBe(500)
    expect((await admin.get('/')).status).toBe(200)
  })

  test('changes nothing while that process may not write', async () => {
    // Without a reason nothing is done, either way.
    const press = async () => (await admin.post(`/partners/${partner.partnerId}/disable`)).status
    expect(await press()).toBe(422)
    refused = true
    await expect.poll(press).toBe(503)
    expect((await admin.get('/service')).text).toContain('Writes are refused')
    refused = false
    await expect.poll(press).toBe(422)
  })

  test('makes links to the page of the service', async () => {
    const { serviceid } = await newUser('linked-1')
    const made = await admin.post(`/users/${serviceid}/link`, { purpose: 'benefits', reason: 'asked for it' })
    const url = new RegExp(`${service.baseUrl}/register/link/\\w+`).exec(made.text)?.[0] ?? ''
    expect((await fetch(url)).status).toBe(200)
  })

  test('writes its lines into the log of the service', async () => {
    await admin.get('/partners')
    await expect
      .poll(() =>
        service.logged.some(
          ({ event, fields }) => event === 'console_request' && fields['route'] === '/partners',
        ),
      )
      .toBe(true)
  })
})

test('a console whose connections to the database break goes on with new ones, in the same process', async () => {
  await service.database.query(sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state = 'idle'`)
  await expect.poll(async () => (await admin.get('/service')).status).toBe(200)
  expect(service.logged.filter(({ event }) => event === 'console_ended')).toEqual([])
})

test('a process that cannot start is told in the log and answered with 503, and another follows later', async () => {
  await using other = await openConsoleGateWithout()
  expect((await fetch(other.url)).status).toBe(503)
  expect(other.logged.map(({ event }) => event)).toEqual(['console_failed', 'console_ended'])
  await expect
    .poll(async () => (await fetch(other.url)).status === 503 && other.logged.length, { timeout: 60_000 })
    .toBe(4)
  // Each pause is longer than the one before.
  const ended = other.logged.filter(({ event }) => event === 'console_ended')
  expect(ended.map(({ fields }) => fields['pausems'])).toEqual([1000, 2000])
  expect(await other.metrics()).toMatch(/^console_process_ends_total 2$/m)
})

/** A console whose keys are not those of the database. */
async function openConsoleGateWithout() {
  const logged: { event: string; fields: Readonly<Record<string, unknown>> }[] = []
  const opened = await openConsoleGate({
    service: service.service(),
    settings: {
      at: { host: '127.0.0.1', port: 0, url: undefined },
      address: service.address,
      keys: { dataDir: '/nowhere' },
      installation: { sandbox: true },
      logLevel: 'info',
    },
    log: (event, fields = {}) => logged.push({ event, fields }),
  })
  return { ...opened, logged, [Symbol.asyncDispose]: opened.close }
}

/** A receiver of the partner's webhooks, and its endpoint. */
async function startReceiverFor(partnerId: string) {
  const receiver = await startReceiver()
  const [row] = await findPartners(service.database, [partnerId])
  if (!row) throw new Error('the partner is missing')
  const wish = {
    partner: partnerOf(row, service.keyring),
    url: receiver.url,
    username: 'harbor',
    password: 'pilot',
    events: 'all',
  } as const
  const made = await addEndpoint(service.database, wish, {
    rules: { sandbox: true, allow: [] },
    real: Date.now,
  })
  if ('refused' in made) throw new Error(JSON.stringify(made.refused))
  service.service().dispatcher.refresh()
  return { receiver, endpoint: made.webhookid, [Symbol.asyncDispose]: async () => receiver.close() }
}
