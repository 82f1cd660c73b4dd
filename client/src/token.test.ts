import { afterEach, expect, test, vi } from 'vitest'
import { ada, connect } from '../test/partner.ts'
import { html, json, problem, type Step, startScriptedServer, token } from '../test/scripted-server.ts'

const prefillLine = 'POST /user/prefill'
const tokenLine = 'POST /oauth2/token'
const ok = json(200, 'prefill saved')
const badToken = problem(401, 'unauthorized', { 'www-authenticate': 'Bearer error="invalid_token"' })

afterEach(() => {
  vi.useRealTimers()
})

test('callers at the same time share one request for a token, and later ones its answer', async () => {
  await using server = await startScriptedServer({ [prefillLine]: Array(6).fill(ok) })
  const client = connect(server.baseUrl)
  await Promise.all(Array.from({ length: 5 }, () => client.prefillUser(ada)))
  await client.prefillUser(ada)
  expect(server.tokenRequests()).toHaveLength(1)
  expect(server.calls()).toHaveLength(6)
})

test('the token is asked for as RFC 6749 says: form-encoded, Basic with encoded id and secret', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [ok] })
  const options = {
    clientId: 'id:1',
    clientSecret: 'a b+ü',
    scopes: ['prefill:write', 'users:read'] as const,
  }
  await connect(server.baseUrl, options).prefillUser(ada)
  const [request] = server.tokenRequests()
  expect(request?.headers['authorization']).toBe(
    `Basic ${Buffer.from('id%3A1:a+b%2B%C3%BC').toString('base64')}`,
  )
  expect(request?.headers['content-type']).toBe('application/x-www-form-urlencoded')
  expect(request?.body).toBe('grant_type=client_credentials&scope=prefill%3Awrite+users%3Aread')
})

test('a token is renewed a minute before it expires, and not sooner', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  await using server = await startScriptedServer({ [prefillLine]: [ok, ok, ok] })
  const client = connect(server.baseUrl)
  await client.prefillUser(ada)
  vi.setSystemTime(3539_000)
  await client.prefillUser(ada)
  vi.setSystemTime(3541_000)
  await client.prefillUser(ada)
  expect(server.calls().map(call => call.headers['authorization'])).toEqual([
    'Bearer token-1',
    'Bearer token-1',
    'Bearer token-2',
  ])
})

test('a renewal that fails costs nothing while the old token lives, and is an error after that', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: 0 })
  await using server = await startScriptedServer({
    [prefillLine]: [ok, ok],
    [tokenLine]: [token('old'), html(400), html(400)],
  })
  const client = connect(server.baseUrl)
  await client.prefillUser(ada)
  vi.setSystemTime(3599_000)
  await client.prefillUser(ada)
  expect(server.calls()[1]?.headers['authorization']).toBe('Bearer old')
  vi.setSystemTime(3600_000)
  await expect(client.prefillUser(ada)).rejects.toMatchObject({ code: 'protocol', status: 400 })
  expect(server.tokenRequests()).toHaveLength(3)
})

test('a refused token is renewed once and the call made again with the same key, an unkeyed one too', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [badToken, ok, badToken, ok] })
  const client = connect(server.baseUrl, { tries: 1 })
  expect(await client.prefillUser(ada)).toBe('prefill saved')
  expect(await client.prefillUser(ada, { version: 'v1' })).toBe('prefill saved')
  const [first, second] = server.calls()
  expect(second?.headers['authorization']).toBe('Bearer token-2')
  expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
  expect(server.tokenRequests()).toHaveLength(3)
})

test('a new token that is refused as well is an error', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [badToken, badToken, ok] })
  const call = connect(server.baseUrl).prefillUser(ada)
  await expect(call).rejects.toMatchObject({ status: 401, code: 'unauthorized' })
  expect(server.calls()).toHaveLength(2)
})

test('a token refused to many callers at once is renewed once', async () => {
  const unlessNew: Step = (response, received) => {
    const isNew = received.headers['authorization'] === 'Bearer token-2'
    ;(isNew ? ok : badToken)(response, received)
  }
  await using server = await startScriptedServer({
    [prefillLine]: [ok, ...Array(10).fill(unlessNew)],
  })
  const client = connect(server.baseUrl)
  await client.prefillUser(ada)
  await Promise.all(Array.from({ length: 5 }, () => client.prefillUser(ada)))
  expect(server.tokenRequests()).toHaveLength(2)
  expect(server.calls()).toHaveLength(11)
})

test.each([
  ['unauthorized', { 'www-authenticate': 'Bearer' }],
  ['invalid_api_key', { 'www-authenticate': 'Bearer' }],
])('another 401 (%s) is an error at once', async (code, headers) => {
  await using server = await startScriptedServer({ [prefillLine]: [problem(401, code, headers), ok] })
  await expect(connect(server.baseUrl).prefillUser(ada)).rejects.toMatchObject({ status: 401, code })
  expect(server.tokenRequests()).toHaveLength(1)
})

test('a refusal of the token endpoint keeps its OAuth code, and nothing else is sent', async () => {
  await using server = await startScriptedServer({
    [tokenLine]: [
      json(401, { error: 'invalid_client', error_description: 'Unknown client or wrong secret.' }),
    ],
  })
  await expect(connect(server.baseUrl).prefillUser(ada)).rejects.toMatchObject({
    code: 'invalid_client',
    status: 401,
    detail: 'Unknown client or wrong secret.',
  })
  expect(server.calls()).toEqual([])
})

test('a token endpoint that is away for a moment is asked again, even for a call that must not be repeated', async () => {
  await using server = await startScriptedServer({ [tokenLine]: [html(503)], [prefillLine]: [ok] })
  expect(await connect(server.baseUrl).prefillUser(ada, { version: 'v1' })).toBe('prefill saved')
  expect(server.tokenRequests()).toHaveLength(2)
})

test.each([
  [{ access_token: 'a b', token_type: 'Bearer', expires_in: 60 }],
  [{ access_token: 'abc', token_type: 'mac', expires_in: 60 }],
  [{ access_token: 'abc', token_type: 'Bearer' }],
  ['abc'],
])('an answer that is no bearer token is a protocol error', async answer => {
  await using server = await startScriptedServer({ [tokenLine]: [json(200, answer)] })
  await expect(connect(server.baseUrl).prefillUser(ada)).rejects.toMatchObject({ code: 'protocol' })
})
