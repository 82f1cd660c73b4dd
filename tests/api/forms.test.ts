// @prism

// What the client cannot send, or what is not about JSON, HTTP or an operation: bytes, media types, sizes, headers,
// methods and paths. Wrong values in a well-formed request are in wrong-values.test.ts.
import { beforeAll, describe, expect, test } from 'vitest'
import { forAllTests } from '../for-all-tests.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { ada, startTestService } from '../rig.ts'
import { type Answer, type Caller, openCaller, send, sendBytes } from './raw.ts'

const service = forAllTests(startTestService)
let caller: Caller
beforeAll(async () => {
  caller = await openCaller(service)
})

/** A prefill with exactly these bytes; when it is refused, nothing of it may be stored. */
function prefillBytes(
  bytes: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string | undefined> = {},
) {
  return caller.send('POST', '/user/prefill', { bytes, headers })
}
function fieldsOf(answer: Answer) {
  return (answer.body as { errors: { field: string }[] }).errors.map(({ field }) => field)
}

async function prefillRaw(
  headers: readonly (readonly [string, string])[],
  body = '{"userid":"raw"}',
): Promise<Answer> {
  const known = Object.entries(await caller.credentials())
  return sendBytes(service, {
    method: 'POST',
    path: '/user/prefill',
    headers: [...known, ['Content-Type', 'application/json'], ...headers],
    body,
  })
}

describe('400 malformed_json', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  test.each([
    ['no JSON', 'userid=u1'],
    ['nothing at all', ''],
    ['cut off', '{"userid":"u1"'],
    ['two values', '{"userid":"u1"}{}'],
    ['a trailing comma', '{"userid":"u1",}'],
    ['a comment', '{"userid":"u1"/**/}'],
    ['single quotes', "{'userid':'u1'}"],
    ['NaN', '{"userid":NaN}'],
    ['nesting of 9', `{"userid":${nested(8)}}`],
    ['nesting of 20,000', nested(20_000)],
    ['a NUL byte', '{"userid":"a\0b"}'],
    ['a NUL in a name', '{"user\\u0000id":"u1"}'],
    ['an object of 501 members', `{${Array.from({ length: 501 }, (_, at) => `"m${at}":1`)}}`],
    ['a lone high surrogate', '{"userid":"\\ud800"}'],
    ['a lone low surrogate', '{"userid":"x\\udc00"}'],
    ['surrogates the wrong way round', '{"userid":"\\udc00\\ud800"}'],
    ['a byte order mark', '\uFEFF{"userid":"u1"}'],
    ['a member twice', '{"userid":"u1","userid":"u1"}'],
    ['a member twice, once escaped', '{"userid":"u1","user\\u0069d":"u2"}'],
    ['a member twice inside', '{"userid":"u1","address":{"city":"a","city":"b"}}'],
    ['a member __proto__', '{"userid":"u1","__proto__":{}}'],
  ])('%s', async (_, text) => {
    expect(await prefillBytes(text)).toMatchObject({ status: 400, code: 'malformed_json' })
  })

  test.each([
    ['latin-1 bytes', Buffer.from('{"userid":"é"}', 'latin1')],
    ['an overlong form', Buffer.from([0x22, 0xc0, 0xaf, 0x22])],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', Buffer.from('{"userid":"u1"}', 'utf16le')],
  ])('%s', async (_, bytes) => {
    expect(await prefillBytes(new Uint8Array(bytes))).toMatchObject({ status: 400, code: 'malformed_json' })
  })
})

test('an escaped NUL is refused with the name of its field', async () => {
  const answer = await prefillBytes('{"userid":"u1","address":{"city":"Mi\\u0000ami"}}')
  expect(answer).toMatchObject({ status: 400, code: 'bad_request' })
  expect(answer.body).toMatchObject({ errors: [{ field: 'address.city', code: 'nul' }] })
})

describe('what JSON allows is read as it is meant', () => {
  test('nesting of 8 is JSON; it is refused by its field only', async () => {
    const answer = await prefillBytes(`{"userid":${'['.repeat(7)}${']'.repeat(7)}}`)
    expect(answer).toMatchObject({ status: 400, code: 'bad_request' })
  })

  test('escapes, pairs of surrogates and white space around', async () => {
    const answer = await prefillBytes(' \r\n\t{"user\\u0069d":"\\ud83d\\ude00","firstname":"Zo\\u00eb"}\n')
    expect(answer.status).toBe(200)
    expect(await caller.partner.client.getUser({ userid: '😀' })).toMatchObject({ status: 'prefilled' })
  })
})

describe('400 bad_request', () => {
  test.each(['"x"', '[]', 'null', '1'])('%s is no object: the body is named', async text => {
    const answer = await prefillBytes(text)
    expect(answer).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fieldsOf(answer)).toEqual(['body'])
  })

  test('a number that JSON can write and no client can hold', async () => {
    const bytes = '{"userid":"u1","age":1e400,"state":"FL","zipcode":"33101"}'
    const answer = await caller.send('POST', '/user/benefits', { bytes })
    expect(answer).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fieldsOf(answer)).toEqual(['age'])
  })

  test('an unknown query parameter, and a body where none is taken, are not lost in silence', async () => {
    for (const sent of ['verbose=1', 'verbose=', 'verbose']) {
      const query = await caller.send('POST', `/user/account/get?${sent}`, { body: { userid: 'u1' } })
      expect(query).toMatchObject({ status: 400, code: 'bad_request' })
      expect(fieldsOf(query)).toEqual(['verbose'])
    }
    const body = await caller.send('DELETE', '/user/account/cancel/u1', { body: { effective: 'immediate' } })
    expect(body).toMatchObject({ status: 400, code: 'bad_request' })
  })

  test('a path that is not percent-encoded UTF-8', async () => {
    for (const path of ['/user/account/cancel/%E0%A4%A', '/user/account/cancel/%FF']) {
      const headers = Object.entries(await caller.credentials())
      expect(await sendBytes(service, { method: 'DELETE', path, headers })).toMatchObject({ status: 400 })
    }
  })

  test('what is no HTTP at all', async () => {
    const answer = await sendBytes(service, {
      method: 'POST',
      path: '/user/prefill',
      headers: [['Bad Header', 'x']],
    })
    expect(answer).toMatchObject({ status: 400, code: 'bad_request' })
  })
})

describe('400 duplicate_header', () => {
  test.each(['Authorization', 'x-api-key', 'Idempotency-Key', 'Content-Type'])(
    '%s twice, even with one value',
    async name => {
      const known = await caller.credentials()
      const value =
        {
          Authorization: known['authorization'],
          'x-api-key': known['x-api-key'],
          'Content-Type': 'application/json',
        }[name] ?? 'k1'
      const twice: [string, string][] = name === 'Idempotency-Key' ? [[name, value]] : []
      const answer = await prefillRaw([...twice, [name.toUpperCase(), value]])
      expect(answer).toMatchObject({ status: 400, code: 'duplicate_header' })
    },
  )
})

test('a query parameter twice is 400 and named, known or not', async () => {
  for (const [query, field] of [
    ['effective=immediate&effective=endofperiod', 'effective'],
    ['effective=immediate&effective=immediate', 'effective'],
    ['verbose=1&verbose=2', 'verbose'],
  ]) {
    const { status, body } = await caller.send('DELETE', `/user/account/cancel/u1?${query}`)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { errors: [{ field, code: 'duplicate', message: `${field} must be sent once` }] },
    })
  }
})

test('a query parameter that is not UTF-8, or not percent-encoded, is 400 and named', async () => {
  for (const [query, field] of [
    ['userid=%ff', 'userid'],
    ['eventname=user_erased&userid=%f0%9f', 'userid'],
    ['userid=100%', 'userid'],
    ['%ff=u1', '(unnamed)'],
  ]) {
    const { status, body } = await caller.send('GET', `/events?${query}`)
    expect({ status, body }).toMatchObject({
      status: 400,
      body: {
        code: 'bad_request',
        errors: [{ field, code: 'format', message: `${field} must be percent-encoded UTF-8` }],
      },
    })
  }
  expect(await caller.send('GET', '/events?userid=%C3%A9+%F0%9F%98%80')).toMatchObject({ status: 200 })
  const description = await fetch(`${service.baseUrl}/openapi.json?version=%ff`)
  expect(description.status).toBe(400)
})

describe('415 unsupported_media_type', () => {
  test.each([
    'text/plain',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; boundary=x',
    'application/problem+json',
    'application/json, text/plain',
    '',
  ])('Content-Type "%s"', async type => {
    const answer = await prefillBytes('{"userid":"u1"}', { 'content-type': type })
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  })

  test('a compressed body', async () => {
    const answer = await prefillBytes('{"userid":"u1"}', { 'content-encoding': 'gzip' })
    expect(answer).toMatchObject({ status: 415, code: 'unsupported_media_type' })
  })

  test.each([
    'application/json',
    'application/json;charset=utf-8',
    'Application/JSON; Charset="UTF-8"',
    'application/json ; charset=utf-8',
  ])('"%s" is taken', async type => {
    expect((await prefillBytes('{"userid":"u1"}', { 'content-type': type })).status).toBe(200)
  })
})

describe('sizes', () => {
  const padded = (size: number) => `{"userid":"u1"${' '.repeat(size - 15)}}`
  test('64 KiB is taken, one byte more is 413 body_too_large', async () => {
    expect((await prefillBytes(padded(65_536))).status).toBe(200)
    expect(await prefillBytes(padded(65_537))).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  test('a body in chunks has the same bound', async () => {
    const chunk = ' '.repeat(0x8000)
    const answer = await sendBytes(service, {
      method: 'POST',
      path: '/user/prefill',
      headers: [
        ...Object.entries(await caller.credentials()),
        ['Content-Type', 'application/json'],
        // The helper's Content-Length ends the headers, and the chunks follow in the body.
        ['Transfer-Encoding', `chunked\r\n\r\n8000\r\n${chunk}\r\n8000\r\n${chunk}\r\n1\r\n \r\n0\r\n\r\n`],
      ],
    })
    expect(answer).toMatchObject({ status: 413, code: 'body_too_large' })
  })

  test('more than 64 headers are 431, 64 are taken', async () => {
    const extra = (count: number) => Array.from({ length: count }, (_, n) => [`x-${n}`, '1'] as const)
    // Host, Connection, Content-Length, two credentials, Content-Type.
    expect((await prefillRaw(extra(58))).status).toBe(200)
    expect(await prefillRaw(extra(59))).toMatchObject({ status: 431, code: 'headers_too_large' })
  })

  test('more than 8 KiB of headers are 431', async () => {
    expect((await prefillRaw([['x-long', 'x'.repeat(7000)]])).status).toBe(200)
    expect(await prefillRaw([['x-long', 'x'.repeat(9000)]])).toMatchObject({
      status: 431,
      code: 'headers_too_large',
    })
  })
})

describe('404 and 405', () => {
  test.each(['/user', '/user/prefill/', '/USER/PREFILL', '/user/prefill/x', '/nothing'])(
    '%s does not exist: 404 not_found',
    async path => {
      expect(await caller.post(path, {})).toMatchObject({ status: 404, code: 'not_found' })
    },
  )

  test.each([
    ['GET', '/user/prefill', 'POST'],
    ['DELETE', '/user/prefill', 'POST'],
    ['PUT', '/user/benefits', 'POST'],
    ['PATCH', '/user/account/create', 'POST'],
    ['OPTIONS', '/user/account/get', 'POST'],
    ['POST', '/user/account/cancel/u1', 'DELETE'],
    ['GET', '/user/linktoken/result', 'POST'],
    ['POST', '/healthz', 'GET, HEAD'],
    ['POST', '/docs/contract', 'GET, HEAD'],
    ['OPTIONS', '/docs/errors/not_found', 'GET, HEAD'],
  ])('%s %s is 405 with Allow: %s', async (method, path, allow) => {
    const answer = await caller.send(method, path)
    expect(answer).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(answer.headers.get('allow')).toBe(allow)
  })
})

test('a userid in a path is neither . nor .., however it is written', async () => {
  for (const path of ['.', '..', '%2e', '%2E%2e']) {
    const headers = Object.entries(await caller.credentials())
    const answer = await sendBytes(service, {
      method: 'DELETE',
      path: `/user/account/cancel/${path}`,
      headers,
    })
    expect(answer).toMatchObject({ status: 400, code: 'bad_request' })
    expect(fieldsOf(answer)).toEqual(['userid'])
  }
})

test('an answer carries a Request-Id, also where there is no operation', async () => {
  expect((await send(service, 'GET', '/healthz')).headers.get('request-id')).toMatch(/^[\da-f-]{36}$/)
  expect((await send(service, 'GET', '/nothing')).headers.get('request-id')).toMatch(/^[\da-f-]{36}$/)
})

test('a media type without a body is no fault where no body is taken', async () => {
  await caller.partner.client.createUser({ userid: 'typed', ...ada, offername: 'starter' })
  const headers = { 'content-type': 'application/json' }
  expect(await caller.send('DELETE', '/user/account/cancel/typed', { headers })).toMatchObject({
    status: 200,
  })
})

test('an unknown path is 404 and another method 405, whatever body comes with it', async () => {
  const broken = (method: string, path: string, type: string) =>
    send(service, method, path, { headers: { 'content-type': type }, bytes: '{' })
  expect(await broken('POST', '/nope', 'application/json')).toMatchObject({ status: 404 })
  const answer = await broken('PUT', '/user/prefill', 'text/plain')
  expect(answer).toMatchObject({ status: 405 })
  expect(answer.headers.get('allow')).toContain('POST')
})

test('an unknown expectation and a missing host are answered by us, with a Request-Id', async () => {
  const expecting = await sendRaw(service.baseUrl, rawRequest('GET', '/healthz', [['Expect', 'bogus']]))
  expect(expecting).toMatchObject({ status: 200 })
  const hostless = await sendRaw(service.baseUrl, 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')
  expect(hostless).toMatchObject({ status: 400 })
  for (const answer of [expecting, hostless]) expect(answer.headers['request-id']).toBeDefined()
})
