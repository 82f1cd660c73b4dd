import { afterAll, beforeAll, expect, test } from 'vitest'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'
import { eventsOf } from './events-of.ts'
import { listenTo } from './listener.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

/** A client that loses the first answer to each path: the service has answered, and the connection breaks. */
const withLosses = (partner: TestPartner) => {
  const lost = new Set<string>()
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const answer = await service.conformance.fetch(input, init)
    const path = String(input)
    if (path.endsWith('/oauth2/token') || lost.has(path)) return answer
    lost.add(path)
    throw new TypeError('fetch failed')
  }
  return listenTo(partner, { fetch, tries: 3 })
}

test('a prefill whose answer was lost is sent again, and the 409 on its own repeat is success', async () => {
  const partner = await service.newPartner()
  const { client, told } = withLosses(partner)
  expect(await client.prefillUser({ userid: 'u1', ...ada })).toBe('prefill saved')
  expect(told.map(({ status, replayed, attempt }) => [status, replayed, attempt])).toEqual([[409, true, 2]])
  expect(await eventsOf(service, partner)).toHaveLength(1)
})

test('so it is when newer data has replaced it meanwhile, and the newer data stays', async () => {
  const partner = await service.newPartner()
  let newer: Promise<unknown> | undefined
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const answer = await service.conformance.fetch(input, init)
    if (newer || String(input).endsWith('/oauth2/token')) return answer
    newer = partner.client.prefillUser({ userid: 'u1' })
    await newer
    throw new TypeError('fetch failed')
  }
  const { client, told } = listenTo(partner, { fetch, tries: 3 })
  expect(await client.prefillUser({ userid: 'u1', ...ada })).toBe('prefill saved')
  expect(told.map(({ status, replayed }) => [status, replayed])).toEqual([[409, true]])
  await expect(client.createUser({ userid: 'u1', offername: 'starter' })).rejects.toMatchObject({
    status: 400,
  })
})

test('every other write gets the first answer again', async () => {
  const partner = await service.newPartner()
  const { client, told } = withLosses(partner)
  const user = await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  expect(user).toMatchObject({ status: 'active' })
  expect(await client.cancelUser({ userid: 'u1' })).toMatchObject({ status: 'active' })
  expect(told.map(({ status, replayed, attempt }) => [status, replayed, attempt])).toEqual([
    [200, true, 2],
    [200, true, 2],
  ])
  expect((await eventsOf(service, partner)).map(({ eventname }) => eventname)).toEqual([
    'enrollment_successful',
    'offer_activiation_successful',
    'offer_cancel_scheduled',
  ])
})
