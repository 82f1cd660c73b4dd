import { once } from 'node:events'
import { createServer } from 'node:net'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { goByTicks } from '../../tests/ticks.ts'
import { ada, connect } from '../test/partner.ts'
import {
  breakOff,
  hang,
  html,
  json,
  lose,
  problem,
  type Step,
  startScriptedServer,
} from '../test/scripted-server.ts'
import { BenefitEnrolmentError, isBenefitEnrolmentError } from './index.ts'

const prefillLine = 'POST /user/prefill'
const ok = json(200, 'prefill saved')
const replayed = { 'idempotency-replayed': 'true', 'idempotency-original-status': '200' }

/** Sends a prefill to a scripted server, and returns the result and the requests that were sent. */
async function prefillAgainst(steps: Step[], options = {}) {
  await using server = await startScriptedServer({ [prefillLine]: steps })
  const [result] = await Promise.allSettled([connect(server.baseUrl, options).prefillUser(ada)])
  const keys = server.calls().map(call => call.headers['idempotency-key'])
  return { result, sent: keys.length, keys: new Set(keys).size }
}

describe('a prefill whose first answer was lost', () => {
  test.each([
    ['the connection closed', lose()],
    ['the answer broke off', breakOff()],
    ['a proxy gave up', html(504)],
    ['the service failed', problem(500, 'internal')],
  ])('succeeds when its own retry hears user_exists (%s)', async (_, lost) => {
    const { result, sent, keys } = await prefillAgainst([lost, problem(409, 'user_exists', replayed)])
    expect(result).toEqual({ status: 'fulfilled', value: 'prefill saved' })
    expect({ sent, keys }).toEqual({ sent: 2, keys: 1 })
  })

  test('succeeds when newer data has replaced it since', async () => {
    const { result } = await prefillAgainst([lose(), problem(409, 'prefill_superseded', replayed)])
    expect(result).toEqual({ status: 'fulfilled', value: 'prefill saved' })
  })

  test('succeeds when the time of the first try had passed', async () => {
    goByTicks()
    const { result } = await prefillAgainst([hang(), problem(409, 'user_exists', replayed)], {
      timeoutMs: 500,
    })
    expect(result).toEqual({ status: 'fulfilled', value: 'prefill saved' })
  })

  test.each([
    ['idempotency_key_reused', replayed],
    ['user_erased', replayed],
    ['user_exists', {}],
  ])('fails on any other 409 (%s %j)', async (code, headers) => {
    const { result, sent } = await prefillAgainst([lose(), problem(409, code, headers)])
    expect(result).toMatchObject({ status: 'rejected', reason: { status: 409, code } })
    expect(sent).toBe(2)
  })
})

test.each(['user_exists', 'prefill_superseded'])(
  '%s on the first try is an error that says replayed',
  async code => {
    const { result, sent } = await prefillAgainst([problem(409, code, replayed)])
    expect(result).toMatchObject({ status: 'rejected', reason: { status: 409, code, replayed: true } })
    expect(sent).toBe(1)
  },
)

test('user_exists after tries that cannot have worked is an error: it tells of another call', async () => {
  const busy = problem(429, 'too_many_requests', { 'retry-after': '0' })
  const { result } = await prefillAgainst([busy, problem(409, 'user_exists', replayed)])
  expect(result).toMatchObject({ status: 'rejected', reason: { code: 'user_exists' } })
})

test('user_exists is no success of any other operation', async () => {
  await using server = await startScriptedServer({
    'POST /user/account/create': [lose(), problem(409, 'user_exists', replayed)],
  })
  const call = connect(server.baseUrl).createUser({ userid: 'u-1' })
  await expect(call).rejects.toMatchObject({ code: 'user_exists' })
})

test.each([
  ['408', problem(408, 'request_timeout')],
  ['429', problem(429, 'too_many_requests', { 'retry-after': '0' })],
  ['502 of a proxy', html(502)],
  ['503', problem(503, 'unavailable', { 'retry-after': '1' })],
])('a keyed write is sent again with its key after %s', async (_, passing) => {
  const { result, sent, keys } = await prefillAgainst([passing, ok])
  expect(result).toEqual({ status: 'fulfilled', value: 'prefill saved' })
  expect({ sent, keys }).toEqual({ sent: 2, keys: 1 })
})

test.each([400, 403, 404, 409, 413, 422, 431])('a refusal with status %i is final', async status => {
  const { result, sent } = await prefillAgainst([problem(status, 'some_code'), ok])
  expect(result).toMatchObject({ status: 'rejected', reason: { status } })
  expect(sent).toBe(1)
})

test('after the last try the last error is thrown', async () => {
  const { result, sent } = await prefillAgainst([html(500), lose(), problem(500, 'internal'), ok])
  expect(result).toMatchObject({ status: 'rejected', reason: { status: 500, code: 'internal' } })
  expect(sent).toBe(3)
})

test('a read is sent again without a key', async () => {
  await using server = await startScriptedServer({ 'POST /user/benefits': [lose(), json(200, [])] })
  const request = { userid: 'u-1', age: 34, state: 'FL', zipcode: '33101' } as const
  expect(await connect(server.baseUrl).getBenefits(request)).toEqual([])
})

test('a write without a key is never sent twice', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [lose(), ok] })
  const call = connect(server.baseUrl).prefillUser(ada, { version: 'v1' })
  await expect(call).rejects.toMatchObject({ code: 'network', status: 0 })
  expect(server.calls()).toHaveLength(1)
})

test('a Retry-After beyond the deadline ends the call at once and is handed on', async () => {
  const away = problem(503, 'unavailable', { 'retry-after': '3600' })
  const { result, sent } = await prefillAgainst([away, ok])
  expect(result).toMatchObject({
    status: 'rejected',
    reason: { code: 'unavailable', retryAfterMs: 3_600_000 },
  })
  expect(sent).toBe(1)
})

test('a try that gets no answer in time is a timeout', async () => {
  goByTicks()
  const { result, sent } = await prefillAgainst([hang(), hang()], { tries: 2, timeoutMs: 500 })
  expect(result).toMatchObject({ status: 'rejected', reason: { code: 'timeout', status: 0 } })
  expect(sent).toBe(2)
})

test('a call ends at its deadline, however many tries are left', async () => {
  goByTicks()
  const { result, sent } = await prefillAgainst([hang(), ok], { tries: 100, deadlineMs: 500 })
  expect(result).toMatchObject({ status: 'rejected', reason: { code: 'timeout' } })
  expect(sent).toBe(1)
})

test('one call may have its own time limit', async () => {
  await using server = await startScriptedServer({ [prefillLine]: [hang()] })
  const call = connect(server.baseUrl, { tries: 1 }).prefillUser(ada, { timeoutMs: 100 })
  await expect(call).rejects.toMatchObject({ code: 'timeout' })
})

test('a service that is not there is a network error with its cause', async () => {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const address = listener.address()
  listener.close()
  await once(listener, 'close')
  const port = typeof address === 'object' ? address?.port : undefined
  await expect(connect(`http://127.0.0.1:${port}`).prefillUser(ada)).rejects.toMatchObject({
    code: 'network',
    status: 0,
    cause: expect.any(Error),
  })
})

describe('the signal of the caller', () => {
  test('ends a call under way with its reason, and nothing more is sent', async () => {
    const ending = new AbortController()
    const reason = new Error('the user left')
    await using server = await startScriptedServer({ [prefillLine]: [() => ending.abort(reason), ok] })
    const call = connect(server.baseUrl).prefillUser(ada, { signal: ending.signal })
    await expect(call).rejects.toBe(reason)
    expect(server.calls()).toHaveLength(1)
  })

  test('ends the wait between two tries', async () => {
    const ending = new AbortController()
    const reason = new Error('the user left')
    await using server = await startScriptedServer({
      [prefillLine]: [problem(503, 'unavailable', { 'retry-after': '20' }), ok],
    })
    const client = connect(server.baseUrl, { onResponse: () => setTimeout(() => ending.abort(reason), 50) })
    await expect(client.prefillUser(ada, { signal: ending.signal })).rejects.toBe(reason)
    expect(server.calls()).toHaveLength(1)
  })

  test('that has fired already sends nothing', async () => {
    await using server = await startScriptedServer({})
    const call = connect(server.baseUrl).prefillUser(ada, { signal: AbortSignal.abort('too late') })
    await expect(call).rejects.toBe('too late')
    expect([...server.calls(), ...server.tokenRequests()]).toEqual([])
  })

  test('ends a call that waits for a token, but not the request for the token, which others share', async () => {
    const ending = new AbortController()
    await using server = await startScriptedServer({
      'POST /oauth2/token': [
        (response, received) => {
          ending.abort()
          setTimeout(
            () => json(200, { access_token: 't', token_type: 'Bearer', expires_in: 9 })(response, received),
            50,
          )
        },
      ],
      [prefillLine]: [ok],
    })
    // A fetch that ignores signals: a request that must not be sent must not even reach it.
    const client = connect(server.baseUrl, {
      fetch: (input, init) => fetch(input, { ...init, signal: null }),
    })
    const [left, stayed] = await Promise.allSettled([
      client.prefillUser(ada, { signal: ending.signal }),
      client.prefillUser(ada),
    ])
    expect([left.status, stayed.status]).toEqual(['rejected', 'fulfilled'])
    expect(server.tokenRequests()).toHaveLength(1)
    expect(server.calls()).toHaveLength(1)
  })
})

describe('an answer that is not the service’s is a protocol error', () => {
  test.each([
    ['HTML with 200', html(200), 200],
    ['HTML with 403', html(403), 403],
    ['JSON of another kind', json(404, { message: 'no such stage' }), 404],
    [
      'JSON that is none',
      (response => response.writeHead(200, { 'content-type': 'application/json' }).end('{')) as Step,
      200,
    ],
    ['a 204', (response => response.writeHead(204).end()) as Step, 204],
  ])('%s', async (_, step, status) => {
    const { result, sent } = await prefillAgainst([step, ok])
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'protocol', status } })
    expect(sent).toBe(1)
  })

  test('a redirect, which is not followed', async () => {
    await using elsewhere = await startScriptedServer({ 'POST /': [ok] })
    const { result } = await prefillAgainst([html(307, { location: `${elsewhere.baseUrl}/` })])
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'protocol', status: 307 } })
    expect(elsewhere.calls()).toEqual([])
  })
})

describe('an error', () => {
  test('tells all that the service told', async () => {
    const { result } = await prefillAgainst([problem(400, 'bad_request')])
    const error = result.status === 'rejected' ? result.reason : undefined
    expect(error).toBeInstanceOf(BenefitEnrolmentError)
    expect(isBenefitEnrolmentError(error)).toBe(true)
    expect(error).toMatchObject({
      message: 'prefillUser: 400 bad_request. About bad_request. (request r-1)',
      status: 400,
      code: 'bad_request',
      requestId: 'r-1',
      detail: 'About bad_request.',
      errors: [{ field: 'zipcode', code: 'pattern', message: 'zipcode must be 5 or 9 digits' }],
      userMessage: 'Please try again.',
      retryAfterMs: undefined,
      replayed: false,
    })
  })

  test('may have a code that this version does not know', async () => {
    const { result } = await prefillAgainst([problem(418, 'code_of_the_future')])
    expect(result).toMatchObject({ reason: { code: 'code_of_the_future', status: 418 } })
  })

  test.each([
    ['a refusal', [problem(400, 'bad_request')]],
    ['a lost answer', [lose()]],
    ['a broken answer', [breakOff()]],
    [
      'a proxy that echoes',
      [((response, { body }) => response.writeHead(400, { 'content-type': 'text/html' }).end(body)) as Step],
    ],
    ['a time-out', [hang()]],
  ])('holds no secret and nothing of the person, its cause included (%s)', async (_, steps) => {
    const { result } = await prefillAgainst(steps, { tries: 1, timeoutMs: 200 })
    expect(result.status).toBe('rejected')
    const shown = inspect(result, { depth: 20, showHidden: true })
    for (const secret of ['canary', 'Canarya', '1990-03-27', '3055550142', 'token-1']) {
      expect(shown).not.toContain(secret)
    }
  })

  test('of something else is not taken for one of the client', () => {
    expect(isBenefitEnrolmentError(new Error('other'))).toBe(false)
    expect(isBenefitEnrolmentError({ name: 'BenefitEnrolmentError' })).toBe(false)
  })
})
