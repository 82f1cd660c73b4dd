import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import type { Client, Scope } from '../../client/src/index.ts'
import { type Operation, operations } from '../../contract/src/index.ts'
import { changePartner, revokeKey, rotateKey } from '../../service/src/partners/administer.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { forAllTests } from '../for-all-tests.ts'
import { rawRequest } from '../raw-http.ts'
import { startTestService, type TestPartner } from '../rig.ts'
import { listenTo } from './listener.ts'
import { openCaller, send, sendBytes } from './raw.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(startTestService)

const partnerOperations = (Object.values(operations) as Operation[]).filter(
  operation => operation.caller === 'partner',
)
function pathOf(operation: Operation) {
  return operation.path.replace(/\{\w+\}/g, 'nobody')
}
const json = { 'content-type': 'application/json' }

// Raw, because the client always sends a token, and always one that the service gave it.
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
  const ask = (client: Client) => client.getUser({ userid: 'nobody' })
  /** 404 when the key is accepted, because the user does not exist. */
  const statusOf = async (client: Client) => (await refusalOf(ask(client))).status

  test('is required: without it 401 invalid_api_key, WWW-Authenticate without an error', async () => {
    const { client, last } = listenTo(await service.newPartner(), { withoutApiKey: true })
    expect(await refusalOf(ask(client))).toMatchObject({ status: 401, code: 'invalid_api_key' })
    expect(last().headers.get('www-authenticate')).toBe('Bearer')
  })

  test("wrong, or another partner's, or a client secret: 401 invalid_api_key", async () => {
    const [partner, other] = [await service.newPartner(), await service.newPartner()]
    for (const apiKey of ['nonsense', other.apiKey, other.clientSecret, partner.clientSecret]) {
      const refused = { status: 401, code: 'invalid_api_key' }
      // Twice, because a wrong key must not be accepted from memory after it was looked up.
      for (const _ of ['first', 'again']) {
        expect(await refusalOf(ask(partner.connect({ apiKey })))).toMatchObject(refused)
      }
    }
  })

  test('an empty one is wrong too (raw: the client would not send it)', async () => {
    const { post } = await openCaller(service)
    expect(await post('/user/account/get', { userid: 'nobody' }, { 'x-api-key': '' })).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    })
  })

  test('can be made optional; one that is sent must still be right', async () => {
    const [partner, other] = [await service.newPartner({ apiKeyOptional: true }), await service.newPartner()]
    expect(await statusOf(partner.connect({ withoutApiKey: true }))).toBe(404)
    expect(await statusOf(partner.client)).toBe(404)
    for (const apiKey of ['nonsense', other.apiKey]) {
      expect(await refusalOf(ask(partner.connect({ apiKey })))).toMatchObject({ code: 'invalid_api_key' })
    }
  })

  test('optional is turned on and off within a second', async () => {
    const partner = await service.newPartner()
    const client = partner.connect({ withoutApiKey: true })
    expect(await statusOf(client)).toBe(401)
    await changePartner(partner.partnerId, { apiKeyOptional: true }, service.manage)
    service.advance(1000)
    expect(await statusOf(client)).toBe(404)
    await changePartner(partner.partnerId, { apiKeyOptional: false }, service.manage)
    service.advance(1000)
    expect(await statusOf(client)).toBe(401)
  })

  test('two keys live at a time, so that rotation has no gap; a revoked one is refused within a second', async () => {
    const partner = await service.newPartner()
    service.advance(1)
    const { secret } = await rotateKey(partner.partnerId, 'api_key', service.manage)
    const [old, young] = [partner.client, partner.connect({ apiKey: secret })]
    expect([await statusOf(old), await statusOf(young)]).toEqual([404, 404])
    const [first] = (await listCredentials(service.database, partner.partnerId)).filter(
      row => row.kind === 'api_key',
    )
    await revokeKey(partner.partnerId, first?.credential_id ?? '', service.manage)
    service.advance(1000)
    expect([await statusOf(old), await statusOf(young)]).toEqual([401, 404])
  })
})

describe('the scope', () => {
  const call = (client: Client, operation: Operation): Promise<unknown> => {
    const named = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'nobody'])
    return client[unchecked<keyof Client>(operation.id)](unchecked(Object.fromEntries(named)))
  }

  // A bulk has none: each of its lines needs that of its operation.
  const scoped = partnerOperations.filter(({ scope }) => scope !== undefined)
  test.each(scoped)('$id without its scope: 403 that names it', async operation => {
    const others = new Set(partnerOperations.flatMap(other => other.scope ?? []))
    const scopes = [...others].filter((scope): scope is Scope => scope !== operation.scope)
    const { client, last } = listenTo(await service.newPartner(), { scopes })
    const refusal = await refusalOf(call(client, operation))
    expect(refusal).toMatchObject({ status: 403, code: 'insufficient_scope' })
    expect(refusal.detail).toContain(operation.scope)
    expect(last().headers.get('www-authenticate')).toBe(
      `Bearer error="insufficient_scope", scope="${operation.scope}"`,
    )
  })
})

describe('failed authentications from one address', () => {
  const withWrongKey = (partner: TestPartner) =>
    refusalOf(partner.connect({ apiKey: 'wrong' }).getUser({ userid: 'u' }))
  const withWrongSecret = (partner: TestPartner) =>
    refusalOf(partner.connect({ clientSecret: 'wrong' }).getUser({ userid: 'u' }))

  test('after 60 in a minute further failing ones get 429; right credentials are never refused', async () => {
    await using live = await startTestService({ sandbox: false })
    const partner = await live.newPartner()
    // At the start of a minute, so that all failures fall into one minute.
    live.advance(60_000 - (live.now() % 60_000))
    for (let count = 0; count < 30; count += 1) {
      expect(await withWrongKey(partner)).toMatchObject({ status: 401, code: 'invalid_api_key' })
      expect(await withWrongSecret(partner)).toMatchObject({ status: 401, code: 'invalid_client' })
    }
    for (const refusal of [await withWrongKey(partner), await withWrongSecret(partner)]) {
      expect(refusal).toMatchObject({ status: 429, code: 'too_many_requests' })
      expect(refusal.retryAfterMs).toBeGreaterThan(0)
    }
    // The token endpoint answers in the form of RFC 6749.
    const withoutClient = await send(live, 'POST', '/oauth2/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      bytes: 'grant_type=client_credentials',
    })
    expect(withoutClient).toMatchObject({ status: 429, body: { error: 'too_many_requests' } })
    const withoutToken = await send(live, 'POST', '/user/account/get', { headers: json, body: {} })
    expect(withoutToken).toMatchObject({ status: 429, code: 'too_many_requests' })
    await expect(partner.client.getUser({ userid: 'u' })).rejects.toMatchObject({ status: 404 })
    expect(await (await live.newPartner()).token()).toMatch(/^enr_at_live_/)
    live.advance(120_000)
    expect(await withWrongKey(partner)).toMatchObject({ status: 401 })
  })

  test('a caller that is gone before the refusal is no failure of the service', async () => {
    const logged = service.logged.length
    const { hostname, port } = new URL(service.baseUrl)
    const bytes = rawRequest('POST', '/user/account/get', [
      ['Authorization', `Bearer enr_at_sandbox_${'x'.repeat(43)}`],
      ['Content-Length', '0'],
    ])
    for (let count = 0; count < 200; count += 1) {
      const socket = connect(Number(port), hostname)
      await once(socket, 'connect')
      await new Promise(written => socket.write(bytes, written))
      socket.resetAndDestroy()
    }
    expect(service.logged.slice(logged).filter(({ event }) => event === 'failure')).toEqual([])
  })

  test('loopback is exempt in a sandbox', async () => {
    const partner = await service.newPartner()
    for (let count = 0; count < 65; count += 1) {
      expect(await withWrongSecret(partner)).toMatchObject({ status: 401, code: 'invalid_client' })
    }
  })
})
