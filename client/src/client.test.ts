import { expect, test } from 'vitest'
import { ada, connect } from '../test/partner.ts'
import { html, json, startScriptedServer } from '../test/scripted-server.ts'
import { createClient, type ResponseInfo } from './index.ts'

const prefillLine = 'POST /user/prefill'

test('a prefill goes out as v2 with a key, credentials and the body as it was given', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [json(200, 'prefill saved')] })
  expect(await connect(server.baseUrl).prefillUser(ada)).toBe('prefill saved')
  const [call] = server.calls()
  expect(call?.headers).toMatchObject({
    authorization: 'Bearer token-1',
    'x-api-key': 'canary-key',
    version: 'v2',
    'content-type': 'application/json',
    'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
  })
  expect(call?.body).toBe(JSON.stringify(ada))
})

test('every call of a write has a key of its own, and the one that the caller gives is sent as it is', async () => {
  const ok = json(200, 'prefill saved')
  await using server = await startScriptedServer({ [prefillLine]: [ok, ok, ok] })
  const client = connect(server.baseUrl)
  await client.prefillUser(ada)
  await client.prefillUser(ada)
  await client.prefillUser(ada, { idempotencyKey: 'mine-1' })
  const keys = server.calls().map(call => call.headers['idempotency-key'])
  expect(new Set(keys).size).toBe(3)
  expect(keys[2]).toBe('mine-1')
})

test('a prefill as v1 carries no key', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [json(200, 'prefill saved')] })
  await connect(server.baseUrl).prefillUser(ada, { version: 'v1' })
  expect(server.calls()[0]?.headers['version']).toBe('v1')
  expect(server.calls()[0]?.headers).not.toHaveProperty('idempotency-key')
})

test('a read carries neither key nor version, and the language that was asked for', async () => {
  await using server = await startScriptedServer({ 'POST /user/benefits': [json(200, [])] })
  const request = { userid: 'u-1', age: 34, state: 'FL', zipcode: '33101' } as const
  expect(await connect(server.baseUrl).getBenefits(request, { acceptLanguage: 'es' })).toEqual([])
  const [call] = server.calls()
  expect(call?.headers).toMatchObject({ 'accept-language': 'es' })
  expect(call?.headers).not.toHaveProperty('idempotency-key')
  expect(call?.headers).not.toHaveProperty('version')
})

test('a path parameter is percent-encoded, the rest of the request becomes the query', async () => {
  const line = 'DELETE /stage/user/account/cancel/a%2Fb%20%C3%A9%3F?effective=immediate&reason=deceased'
  await using server = await startScriptedServer({
    [line]: [json(200, { status: 'cancelled' })],
    'POST /stage/oauth2/token': [json(200, { access_token: 't', token_type: 'bearer', expires_in: 60 })],
  })
  const client = connect(`${server.baseUrl}/stage/`)
  await client.cancelUser({ userid: 'a/b é?', effective: 'immediate', reason: 'deceased' })
  const call = server.calls().at(-1)
  expect(call).toMatchObject({ line, body: '', headers: { 'idempotency-key': expect.any(String) } })
  expect(call?.headers).not.toHaveProperty('content-type')
})

test('a POST that takes no body is sent without one', async () => {
  const line = 'POST /webhooks/019abc12-3456-7def-8123-456789abcdea/test'
  await using server = await startScriptedServer({
    [line]: [json(200, { eventid: '019abc12-3456-7def-8123-456789abcdeb' })],
    'POST /oauth2/token': [json(200, { access_token: 't', token_type: 'bearer', expires_in: 60 })],
  })
  await connect(server.baseUrl).testWebhook({ webhookid: '019abc12-3456-7def-8123-456789abcdea' })
  const call = server.calls().at(-1)
  expect(call).toMatchObject({ line, body: '' })
  expect(call?.headers).not.toHaveProperty('content-type')
})

test.each(['', '.', '..', '\ud800'])('userid %j is refused before a path is made of it', async userid => {
  await using server = await startScriptedServer({})
  await expect(connect(server.baseUrl).cancelUser({ userid })).rejects.toMatchObject({
    code: 'bad_request',
    status: 0,
    errors: [{ field: 'userid' }],
  })
  expect(server.calls()).toEqual([])
})

test.each([' ', 'ä', 'line\nbreak', 'k'.repeat(256)])('key %j is refused before it is sent', async key => {
  await using server = await startScriptedServer({})
  const call = connect(server.baseUrl).prefillUser(ada, { idempotencyKey: key })
  await expect(call).rejects.toMatchObject({ code: 'idempotency_key_invalid', status: 0 })
  expect(server.calls()).toEqual([])
})

test('without an API key none is sent', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [json(200, 'prefill saved')] })
  await createClient({ baseUrl: server.baseUrl, clientId: 'id', clientSecret: 'secret' }).prefillUser(ada)
  expect(server.calls()[0]?.headers).not.toHaveProperty('x-api-key')
})

test('an injected fetch carries every request', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [json(200, 'prefill saved')] })
  const addresses: string[] = []
  const client = connect(server.baseUrl, {
    fetch: (input, init) => {
      addresses.push(String(input))
      return fetch(input, init)
    },
  })
  await client.prefillUser(ada)
  expect(addresses).toEqual([`${server.baseUrl}/oauth2/token`, `${server.baseUrl}/user/prefill`])
})

test('every answer to a call is told, with request id and attempt; an observer that throws harms nothing', async () => {
  await using server = await startScriptedServer({
    [prefillLine]: [
      html(502),
      json(200, 'prefill saved', { 'request-id': 'r-2', ratelimit: '"default";r=9' }),
    ],
  })
  const told: ResponseInfo[] = []
  const client = connect(server.baseUrl, {
    onResponse: info => {
      told.push(info)
      throw new Error('observer')
    },
  })
  expect(await client.prefillUser(ada)).toBe('prefill saved')
  const always = {
    operation: 'prefillUser',
    replayed: false,
    headers: expect.any(Headers),
    ms: expect.any(Number),
  }
  expect(told).toEqual([
    { ...always, status: 502, requestId: undefined, attempt: 1 },
    { ...always, status: 200, requestId: 'r-2', attempt: 2 },
  ])
  expect(told[1]?.headers.get('ratelimit')).toBe('"default";r=9')
})

test('an answer that is the first one again is told as replayed', async () => {
  const replay = json(200, { userid: 'u-1' }, { 'idempotency-replayed': 'true' })
  await using server = await startScriptedServer({
    'POST /user/account/create': [json(200, { userid: 'u-1' }), replay],
  })
  const told: boolean[] = []
  const client = connect(server.baseUrl, { onResponse: ({ replayed }) => told.push(replayed) })
  for (const _ of ['first', 'again']) await client.createUser({ userid: 'u-1' }, { idempotencyKey: 'k-1' })
  expect(told).toEqual([false, true])
})

test.each([
  ['baseUrl', { baseUrl: 'benefits.example.com' }],
  ['baseUrl', { baseUrl: 'ftp://benefits.example.com' }],
  ['baseUrl', { baseUrl: 'https://canary:canary@benefits.example.com' }],
  ['baseUrl', { baseUrl: 'https://benefits.example.com/?canary' }],
  ['clientId', { clientId: '' }],
  ['clientSecret', { clientSecret: '' }],
  ['apiKey', { apiKey: 'canary\n' }],
  ['tries', { tries: 0 }],
  ['timeoutMs', { timeoutMs: Number.NaN }],
  ['deadlineMs', { deadlineMs: Number.POSITIVE_INFINITY }],
])('a wrong %s is refused at once, without telling its value', (name, options) => {
  const create = () => connect('http://127.0.0.1:1', options)
  expect(create).toThrow(TypeError)
  expect(create).toThrow(name)
  expect(create).not.toThrow('canary')
})
