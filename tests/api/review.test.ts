import { afterAll, beforeAll, expect, test } from 'vitest'
import { holdUsers } from '../hold-users.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

const headersOf = async (partner: TestPartner, apiKey = partner.apiKey) => [
  ['Authorization', `Bearer ${await partner.token()}`] as const,
  ['x-api-key', apiKey] as const,
]

test('a client secret is no API key, not even right after it was used', async () => {
  const partner = await service.newPartner()
  const headers = await headersOf(partner, partner.clientSecret)
  for (let tries = 0; tries < 2; tries += 1) {
    const answer = await sendRaw(
      service.baseUrl,
      rawRequest(
        'POST',
        '/user/prefill',
        [...headers, ['Content-Type', 'application/json']],
        '{"userid":"u1"}',
      ),
    )
    expect(answer).toMatchObject({ status: 401 })
    expect(answer.json()).toMatchObject({ code: 'invalid_api_key' })
  }
})

test('a user who is held by somebody else holds up nobody else', async () => {
  const held = await service.newPartner()
  const other = await service.newPartner()
  await held.client.prefillUser({ userid: 'u1', ...ada })
  const holder = await holdUsers(service, held)
  const waiting = held.client.prefillUser({ userid: 'u1', ...ada, firstname: 'Eve' })
  let isWaiting = true
  void waiting.finally(() => {
    isWaiting = false
  })
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => other.client.prefillUser({ userid: `n${n}`, ...ada })),
  )
  expect(isWaiting).toBe(true)
  await holder.release()
  expect(await waiting).toBe('prefill saved')
})

test('a media type without a body is no fault where no body is taken', async () => {
  const partner = await service.newPartner()
  await partner.client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  const headers = [...(await headersOf(partner)), ['Content-Type', 'application/json'] as const]
  const path = '/user/account/cancel/u1'
  expect(await sendRaw(service.baseUrl, rawRequest('DELETE', path, headers))).toMatchObject({ status: 200 })
})

test('an unknown path is 404 and another method 405, whatever body comes with it', async () => {
  const send = (method: string, path: string, type: string) =>
    sendRaw(service.baseUrl, rawRequest(method, path, [['Content-Type', type]], '{'))
  expect(await send('POST', '/nope', 'application/json')).toMatchObject({ status: 404 })
  const answer = await send('PUT', '/user/prefill', 'text/plain')
  expect(answer).toMatchObject({ status: 405 })
  expect(answer.headers['allow']).toContain('POST')
})

test('an unknown expectation and a missing host are answered by us, with a Request-Id', async () => {
  const expecting = await sendRaw(service.baseUrl, rawRequest('GET', '/healthz', [['Expect', 'bogus']]))
  expect(expecting).toMatchObject({ status: 200 })
  const hostless = await sendRaw(service.baseUrl, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')
  expect(hostless).toMatchObject({ status: 400 })
  for (const answer of [expecting, hostless]) expect(answer.headers['request-id']).toBeDefined()
})

test('a previewid that was never given out is stale', async () => {
  const { client } = await service.newPartner()
  await client.createUser({ userid: 'u1', ...ada, offername: 'starter' })
  const previewid = Buffer.concat([Buffer.alloc(8, 255), Buffer.alloc(32)]).toString('base64url')
  await expect(client.changeOffer({ userid: 'u1', offername: 'plus', previewid })).rejects.toMatchObject({
    status: 422,
    code: 'preview_stale',
  })
})

test('the clock is moved once for one key', async () => {
  const { client } = await service.newPartner()
  const advanceto = new Date(service.now() + 3_600_000).toISOString()
  const first = await client.advanceClock({ advanceto }, { idempotencyKey: 'k1' })
  expect(await client.advanceClock({ advanceto }, { idempotencyKey: 'k1' })).toEqual(first)
})

test('the 24 hours of a keyed answer are real time, whatever the clock of the sandbox shows', async () => {
  const { client } = await service.newPartner()
  const request = { userid: 'u1', ...ada, offername: 'starter' }
  const first = await client.createUser(request, { idempotencyKey: 'k1' })
  await client.advanceClock({ advanceto: new Date(service.now() + 3 * 86_400_000).toISOString() })
  expect(await client.createUser(request, { idempotencyKey: 'k1' })).toEqual(first)
})

test('a partner with a limit is told it, and refused beyond it until the time that Retry-After names', async () => {
  const partner = await service.newPartner({ ratePerSecond: 2 })
  const headers = await headersOf(partner)
  const ask = () =>
    sendRaw(
      service.baseUrl,
      rawRequest(
        'POST',
        '/user/account/get',
        [...headers, ['Content-Type', 'application/json']],
        '{"userid":"u"}',
      ),
    )
  const answers = await Promise.all(Array.from({ length: 20 }, ask))
  const refused = answers.filter(answer => answer.status === 429)
  expect(refused.length).toBeGreaterThan(0)
  expect(refused[0]?.headers['retry-after']).toBe('1')
  for (const answer of answers) expect(answer.headers['ratelimit-policy']).toBe('"default";q=2;w=1')
  service.advance(2000)
  expect(await ask()).toMatchObject({ status: 404 })
})
