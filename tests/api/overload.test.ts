import { connect } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { holdUsers, testInTime } from '../hold-users.ts'
import { newVisitor } from '../page/visitor.ts'
import { ada, adaAsks, startTestService, type TestService } from '../rig.ts'
import { listenTo } from './listener.ts'
import { outcomesOf, refusalOf } from './refusal.ts'

// Room for 8 ordinary requests, 10 prefills, 12 urgent ones.
const limits = { inFlight: 12, reserved: 4, loopDelayMs: 10_000 }
let service: TestService
beforeEach(async () => {
  service = await startTestService({ limits })
})
afterEach(() => service[Symbol.asyncDispose]())

async function numberOf(service: TestService, name: string): Promise<number> {
  const lines = (await service.service().metrics()).split('\n')
  return Number(lines.find(line => line.startsWith(`${name} `))?.slice(name.length + 1))
}

/** A partner with a locked user, so that requests about that user stay in flight until `release`. */
async function openHolder(service: TestService) {
  const partner = await service.newPartner()
  await partner.client.createUser({ userid: 'held', ...ada, offername: 'starter' })
  await partner.client.createUser({ userid: 'free', ...ada, offername: 'starter' })
  const held = await holdUsers(service, partner)
  const waiting: Promise<(200 | string)[]>[] = []
  const fill = async (count: number, ask: (client: Client) => Promise<unknown>): Promise<void> => {
    const before = await numberOf(service, 'http_requests_in_flight')
    for (let index = 0; index < count; index += 1) waiting.push(outcomesOf([ask(partner.client)]))
    await expect.poll(() => numberOf(service, 'http_requests_in_flight')).toBe(before + count)
  }
  return {
    partner,
    /** Fills the room with updates of the locked user. */
    update: (count: number) =>
      fill(count, client => client.updateUser({ userid: 'held', phone: '3055550199' })),
    prefill: (count: number) => fill(count, client => client.prefillUser({ userid: 'held' })),
    async release() {
      await held.release()
      expect(new Set((await Promise.all(waiting)).flat())).toEqual(new Set([200]))
    },
  }
}

describe('beyond the bound', () => {
  testInTime('a request is refused with 503 and Retry-After, and leaves no trace', async () => {
    const holder = await openHolder(service)
    const { client, last } = listenTo(holder.partner)
    await holder.update(8)
    const refusal = await refusalOf(client.createUser({ userid: 'new', ...ada, offername: 'starter' }))
    expect(refusal).toMatchObject({ status: 503, code: 'unavailable', errors: [] })
    expect(last().headers.get('retry-after')).toMatch(/^[123]$/)
    await holder.release()
    expect(await refusalOf(client.getUser({ userid: 'new' }))).toMatchObject({ code: 'user_not_found' })
    const { events } = await client.listEvents({})
    expect(events.filter(event => event.userid === 'new')).toEqual([])
  })

  testInTime('a refused write can be sent again with its key, as if it had never been sent', async () => {
    const holder = await openHolder(service)
    const { client, last } = listenTo(holder.partner)
    await holder.update(8)
    const write = () =>
      client.createUser({ userid: 'new', ...ada, offername: 'starter' }, { idempotencyKey: 'k1' })
    expect(await refusalOf(write())).toMatchObject({ status: 503 })
    await holder.release()
    const created = await write()
    expect(last().replayed).toBe(false)
    expect(await write()).toEqual(created)
    expect(last().replayed).toBe(true)
  })

  testInTime('prefill is still admitted, and token, cancel and erase even beyond that', async () => {
    const holder = await openHolder(service)
    const { partner } = holder
    await holder.update(8)
    expect(await refusalOf(partner.client.getBenefits({ userid: 'free', ...adaAsks }))).toMatchObject({
      status: 503,
    })
    await holder.prefill(2)
    expect(await refusalOf(partner.client.prefillUser({ userid: 'new' }))).toMatchObject({ status: 503 })
    // The token first, because a client without one would request it.
    const again = partner.connect()
    const done = Promise.all([
      again.cancelUser({ userid: 'other' }).catch(error => error.code),
      again.eraseUser({ userid: 'another' }).catch(error => error.code),
    ])
    expect(await done).toEqual(['user_not_found', 'user_not_found'])
    await holder.release()
  })

  testInTime('the whole of it is told to the log in sums, and counted by reason', async () => {
    const holder = await openHolder(service)
    await holder.update(8)
    for (let count = 0; count < 20; count += 1)
      await refusalOf(holder.partner.client.getUser({ userid: 'free' }))
    expect(await numberOf(service, 'http_requests_shed_total{reason="full"}')).toBe(20)
    await holder.release()
    await service.restart()
    const told = service.logged
      .filter(({ event }) => event === 'shed')
      .map(({ fields }) => Number(fields['full']))
    expect(told.reduce((sum, count) => sum + count, 0)).toBe(20)
    expect(told.length).toBeLessThan(5)
    const one = service.logged.filter(({ event, fields }) => event === 'request' && fields['status'] === 503)
    expect(one).toEqual([])
  })

  testInTime('once the load is gone, requests are admitted again', async () => {
    const holder = await openHolder(service)
    await holder.update(8)
    expect(await refusalOf(holder.partner.client.getUser({ userid: 'free' }))).toMatchObject({ status: 503 })
    await holder.release()
    const { client } = holder.partner
    expect(await client.getUser({ userid: 'free' })).toMatchObject({ userid: 'free' })
    // Neither successful requests nor requests refused for another reason stay counted.
    for (let count = 0; count < 10; count += 1) await refusalOf(client.getUser({ userid: 'nobody' }))
    expect(await numberOf(service, 'http_requests_in_flight')).toBe(0)
  })
})

describe('a partner that floods', () => {
  testInTime('does not keep another out, whose requests are all answered', async () => {
    const holder = await openHolder(service)
    const { client } = await service.newPartner()
    await holder.update(8)
    expect(await client.prefillUser({ userid: 'u1' })).toBe('prefill saved')
    expect(await client.getBenefits({ userid: 'u1', ...adaAsks })).not.toEqual([])
    await holder.release()
  })

  testInTime(
    'is refused while another waits, until it holds no more than its share, and is told why',
    async () => {
      const holder = await openHolder(service)
      const other = await openHolder(service)
      await other.update(1)
      await holder.update(7)
      const { client } = holder.partner
      const refusal = await refusalOf(client.getUser({ userid: 'free' }))
      expect(refusal).toMatchObject({ status: 503, code: 'unavailable' })
      expect(refusal.detail).toContain('your share')
      expect(await other.partner.client.getUser({ userid: 'free' })).toMatchObject({ userid: 'free' })
      await holder.release()
      await other.release()
      expect(await client.getUser({ userid: 'free' })).toMatchObject({ userid: 'free' })
    },
  )
})

testInTime('metrics answer during overload', async () => {
  const holder = await openHolder(service)
  await holder.update(8)
  await holder.prefill(2)
  expect(await numberOf(service, 'http_requests_in_flight')).toBe(10)
  await holder.release()
})

testInTime(
  'twice the bound is the end for all but health and readiness: a person gets a page that says so, and Retry-After',
  async () => {
    await using own = await startTestService({ limits: { inFlight: 2, reserved: 0, loopDelayMs: 10_000 } })
    const holders = [await openHolder(own), await openHolder(own), await openHolder(own)] as const
    await holders[0].update(2)
    await holders[1].update(1)
    await holders[2].update(1)
    const shown = await newVisitor(own.baseUrl).get('/register')
    expect(shown).toMatchObject({ status: 503, view: 'PROBLEM' })
    expect(shown.headers.get('retry-after')).toMatch(/^[123]$/)
    for (const path of ['/healthz', '/readyz'])
      expect((await own.conformance.fetch(own.baseUrl + path)).status).toBe(200)
    expect(await refusalOf(holders[0].partner.connect().getUser({ userid: 'free' }))).toMatchObject({
      status: 503,
    })
    const token = await own.conformance.fetch(`${own.baseUrl}/oauth2/token`, { method: 'POST' })
    expect(token.status).toBe(503)
    expect(await token.json()).toMatchObject({ error: 'unavailable' })
    for (const holder of holders) await holder.release()
    expect((await newVisitor(own.baseUrl).get('/register')).status).toBe(401)
  },
)

test('bytes that wait to be sent count as requests in flight, until they are taken or given up', async () => {
  const { hostname, port } = new URL(service.baseUrl)
  const load = () => numberOf(service, 'http_requests_in_flight')
  const before = await load()
  const ask = `GET /openapi.json HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`
  // Requested one after the other and never read: more than the operating system buffers.
  const slow = connect({ host: hostname, port: Number(port) }, () => slow.write(ask.repeat(64)))
  slow.on('error', () => {})
  slow.pause()
  await expect.poll(load).toBeGreaterThan(before + 4)
  slow.destroy()
  await expect.poll(load).toBe(before)
})
