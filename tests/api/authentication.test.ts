import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Operation, operations } from '../../contract/src/index.ts'
import { changePartner, revokeKey, rotateKey } from '../../service/src/partners/manage.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { startTestService, type TestService } from '../rig.ts'
import { openCaller, send, sendBytes } from './send.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

const partnerOperations = (Object.values(operations) as Operation[]).filter(
  operation => operation.caller === 'partner',
)
const pathOf = (operation: Operation) => operation.path.replace(/\{\w+\}/g, 'nobody')
const json = { 'content-type': 'application/json' }

describe('the bearer token', () => {
  test.each(partnerOperations)('$id without a token: 401 that asks for a bearer', async operation => {
    const answer = await send(service, operation.method, pathOf(operation), { headers: json })
    expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test('a token that is unknown, malformed or of another kind: 401 with error="invalid_token"', async () => {
    const { partner } = await openCaller(service)
    const token = await partner.token()
    const changed = `${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`
    for (const bad of [changed, 'nonsense', partner.clientSecret, partner.apiKey, `${token} x`, 'a"b']) {
      const answer = await send(service, 'POST', '/user/account/get', {
        headers: { ...json, authorization: `Bearer ${bad}`, 'x-api-key': partner.apiKey },
        body: { userid: 'u1' },
      })
      expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
    }
  })

  test('another scheme, or Bearer without a token, is no token: 401 without an error', async () => {
    for (const authorization of ['Basic dTpw', 'Bearer', 'Token abc']) {
      const answer = await send(service, 'POST', '/user/account/get', {
        headers: { ...json, authorization },
        body: { userid: 'u1' },
      })
      expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('the scheme is read without case (RFC 9110 §11.1)', async () => {
    const { send: call, credentials } = await openCaller(service)
    const { authorization = '' } = await credentials()
    const headers = { authorization: authorization.replace('Bearer', 'bearer') }
    expect((await call('POST', '/user/account/get', { headers, body: { userid: 'u1' } })).status).toBe(404)
  })

  test('401 comes before any look at the body: broken, too large, of another type or unknown version', async () => {
    const bodies = ['{"broken', 'x'.repeat(70_000), '{"userid":1}', '\0']
    for (const body of bodies) {
      for (const type of ['application/json', 'text/plain']) {
        const answer = await sendBytes(service, {
          method: 'POST',
          path: '/user/prefill',
          headers: [
            ['Content-Type', type],
            ['Version', 'v3'],
          ],
          body,
        })
        expect(answer).toMatchObject({ status: 401, code: 'unauthorized' })
      }
    }
  })

  test('right credentials are needed first, then the body is judged', async () => {
    const { send: call } = await openCaller(service)
    expect(await call('POST', '/user/prefill', { bytes: '{"broken' })).toMatchObject({ status: 400 })
  })
})

describe('the API key', () => {
  const ask = async (headers: Record<string, string | undefined>, settings = {}) => {
    const { post } = await openCaller(service, settings)
    return post('/user/account/get', { userid: 'nobody' }, headers)
  }

  test('is required: without it 401 invalid_api_key, WWW-Authenticate without an error', async () => {
    const answer = await ask({ 'x-api-key': undefined })
    expect(answer).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
  })

  test("wrong, empty, or another partner's: 401 invalid_api_key", async () => {
    const other = await service.newPartner()
    for (const key of ['nonsense', '', other.apiKey, other.clientSecret]) {
      expect(await ask({ 'x-api-key': key })).toMatchObject({ status: 401, code: 'invalid_api_key' })
    }
  })

  test('can be made optional; one that is sent must still be right', async () => {
    const other = await service.newPartner()
    const settings = { apiKeyOptional: true }
    expect((await ask({ 'x-api-key': undefined }, settings)).status).toBe(404)
    expect((await ask({}, settings)).status).toBe(404)
    for (const key of ['nonsense', other.apiKey]) {
      expect(await ask({ 'x-api-key': key }, settings)).toMatchObject({ code: 'invalid_api_key' })
    }
  })

  test('optional is turned on and off within a second', async () => {
    const { partner, post } = await openCaller(service)
    const without = async () =>
      (await post('/user/account/get', { userid: 'nobody' }, { 'x-api-key': undefined })).status
    expect(await without()).toBe(401)
    await changePartner(partner.partnerId, { apiKeyOptional: true }, service.manage)
    service.advance(1000)
    expect(await without()).toBe(404)
    await changePartner(partner.partnerId, { apiKeyOptional: false }, service.manage)
    service.advance(1000)
    expect(await without()).toBe(401)
  })

  test('two keys live at a time, so that rotation has no gap; a revoked one is refused within a second', async () => {
    const { partner, post } = await openCaller(service)
    const status = async (key: string) =>
      (await post('/user/account/get', { userid: 'nobody' }, { 'x-api-key': key })).status
    const { secret } = await rotateKey(partner.partnerId, 'api_key', service.manage)
    expect([await status(partner.apiKey), await status(secret)]).toEqual([404, 404])
    const [first] = (await listCredentials(service.database, partner.partnerId)).filter(
      row => row.kind === 'api_key',
    )
    await revokeKey(partner.partnerId, first?.credential_id ?? '', service.manage)
    service.advance(1000)
    expect([await status(partner.apiKey), await status(secret)]).toEqual([401, 404])
  })
})

describe('the scope', () => {
  test.each(partnerOperations)('$id without its scope: 403 that names it', async operation => {
    const { partner } = await openCaller(service)
    const others = partnerOperations.flatMap(other => other.scope ?? [])
    const scopes = [...new Set(others)].filter(scope => scope !== operation.scope)
    const answer = await fetch(`${service.baseUrl}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: scopes.join(' '),
        client_id: partner.clientId,
        client_secret: partner.clientSecret,
      }),
    })
    const { access_token } = (await answer.json()) as { access_token: string }
    const refused = await send(service, operation.method, pathOf(operation), {
      headers: { ...json, authorization: `Bearer ${access_token}`, 'x-api-key': partner.apiKey },
    })
    expect(refused).toMatchObject({ status: 403, code: 'insufficient_scope' })
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="${operation.scope}"`,
    )
  })
})

describe('failed authentications from one address', () => {
  test('after 60 in a minute further failing ones get 429; right credentials are never refused', async () => {
    await using live = await startTestService({ sandbox: false })
    const { post } = await openCaller(live)
    const fail = () => send(live, 'POST', '/user/account/get', { headers: json, body: {} })
    const failToken = () =>
      send(live, 'POST', '/oauth2/token', {
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        bytes: 'grant_type=client_credentials&client_id=a&client_secret=b',
      })
    // A minute begins, so that all failures fall into one.
    live.advance(60_000 - (live.now() % 60_000))
    for (let count = 0; count < 30; count += 1) {
      expect((await fail()).status).toBe(401)
      expect((await failToken()).status).toBe(401)
    }
    const refused = await fail()
    expect(refused).toMatchObject({ status: 429, code: 'too_many_requests' })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(await failToken()).toMatchObject({ status: 429, code: 'too_many_requests' })
    expect(await post('/user/account/get', { userid: 'u' }, { 'x-api-key': 'wrong' })).toMatchObject({
      status: 429,
    })
    expect((await post('/user/account/get', { userid: 'nobody' })).status).toBe(404)
    expect(await (await live.newPartner()).token()).toMatch(/^enr_at_live_/)
    live.advance(120_000)
    expect((await fail()).status).toBe(401)
  })

  test('loopback is exempt in a sandbox', async () => {
    for (let count = 0; count < 65; count += 1) {
      const answer = await send(service, 'POST', '/user/account/get', { headers: json, body: {} })
      expect(answer.status).toBe(401)
    }
  })
})
