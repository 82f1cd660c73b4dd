// @prism

// The client requests its tokens itself and shows none. Its use of the token endpoint is tested through it; the forms
// of the RFCs, which other OAuth libraries use, and a token held by the test are sent raw.
import { describe, expect, test } from 'vitest'
import type { Client } from '../../client/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner, revokeKey, rotateKey } from '../../service/src/partners/administer.ts'
import { splitSecretId } from '../../service/src/partners/directory.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { openTokenStore, revokeTokenRow } from '../../service/src/partners/tokens.ts'
import { encodeUuid, makeSecret, parseSecret, type SecretKind } from '../../service/src/vault/secret.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService, type TestPartner, type TestService } from '../rig.ts'
import { listenTo } from './listener.ts'
import { type Answer, send, sendBytes } from './raw.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(startTestService)

const form = 'application/x-www-form-urlencoded'
function basic(id: string, secret: string) {
  return `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`
}

function askToken(
  fields: Record<string, string> | string,
  authorization?: string,
  path = '/oauth2/token',
): Promise<Answer> {
  return send(service, 'POST', path, {
    headers: { authorization, 'content-type': form },
    bytes: typeof fields === 'string' ? fields : new URLSearchParams(fields).toString(),
  })
}
const grant = { grant_type: 'client_credentials' }
function own(partner: TestPartner) {
  return basic(partner.clientId, partner.clientSecret)
}

/** The service's answer to a read of an unknown user: 404 while the token is valid. */
async function statusWith(partner: TestPartner, token: string): Promise<number> {
  const answer = await send(service, 'POST', '/user/account/get', {
    headers: {
      authorization: `Bearer ${token}`,
      'x-api-key': partner.apiKey,
      'content-type': 'application/json',
    },
    body: { userid: 'nobody' },
  })
  return answer.status
}
function tokenOf(answer: Answer) {
  return (answer.body as { access_token: string }).access_token
}

describe('through the client', () => {
  const ask = (client: Client) => refusalOf(client.getUser({ userid: 'nobody' }))

  test('a token that has expired is renewed, and the call goes on', async () => {
    const { client, told } = listenTo(await service.newPartner())
    expect(await ask(client)).toMatchObject({ status: 404 })
    service.advance(3_600_000)
    expect(await ask(client)).toMatchObject({ status: 404 })
    expect(told.map(({ status }) => status)).toEqual([404, 401, 404])
    expect(told[1]?.headers.get('www-authenticate')).toBe('Bearer error="invalid_token"')
  })

  test('a token carries the scopes that were asked for, and no others', async () => {
    const partner = await service.newPartner()
    const client = partner.connect({ scopes: ['benefits:read', 'prefill:write'] })
    expect(await client.prefillUser({ userid: 'u1' })).toBe('prefill saved')
    expect(await ask(client)).toMatchObject({ status: 403, code: 'insufficient_scope' })
  })

  test('400 invalid_scope: an unknown scope, and one that the partner was not given', async () => {
    const partner = await service.newPartner({ scopes: ['users:read'] })
    expect(await ask(partner.client)).toMatchObject({ status: 404 })
    for (const scopes of [['users:read', 'nonsense'], ['prefill:write'], ['USERS:READ'], [' ']]) {
      expect(await ask(partner.connect({ scopes: unchecked(scopes) }))).toMatchObject({
        status: 400,
        code: 'invalid_scope',
      })
    }
  })

  test('401 invalid_client: wrong credentials, all in the same words', async () => {
    const [partner, other] = [await service.newPartner(), await service.newPartner()]
    const last = partner.clientSecret.at(-1) === 'a' ? 'b' : 'a'
    const wrong = [
      { clientSecret: `${partner.clientSecret.slice(0, -1)}${last}` },
      { clientSecret: other.clientSecret },
      { clientId: other.clientId },
      { clientId: 'enr_client_nobody' },
      { clientSecret: partner.apiKey },
      { clientSecret: 'é:%&+ ' },
    ]
    const details = new Set<string>()
    for (const options of wrong) {
      const refusal = await ask(partner.connect(options))
      expect(refusal).toMatchObject({ status: 401, code: 'invalid_client' })
      details.add(refusal.detail)
    }
    expect(details.size).toBe(1)
  })

  test('a disabled partner is refused a second later: the token it has, and another', async () => {
    const partner = await service.newPartner()
    expect(await ask(partner.client)).toMatchObject({ status: 404 })
    await changePartner(partner.partnerId, { isDisabled: true }, service.manage)
    service.advance(1000)
    // The client renews the refused token, and is refused at the token endpoint.
    expect(await ask(partner.client)).toMatchObject({ status: 401, code: 'invalid_client' })
    await changePartner(partner.partnerId, { isDisabled: false }, service.manage)
    service.advance(1000)
    expect(await ask(partner.client)).toMatchObject({ status: 404 })
  })

  test('two client secrets live side by side; revoking one ends its tokens within a second, not those of the other', async () => {
    const partner = await service.newPartner()
    service.advance(1)
    const { secret } = await rotateKey(partner.partnerId, 'client_secret', service.manage)
    const [old, young] = [listenTo(partner), listenTo(partner, { clientSecret: secret })]
    for (const { client } of [old, young]) expect(await ask(client)).toMatchObject({ status: 404 })
    const [first] = (await listCredentials(service.database, partner.partnerId)).filter(
      row => row.kind === 'client_secret',
    )
    await revokeKey(partner.partnerId, first?.credential_id ?? '', service.manage)
    service.advance(1000)
    expect(await ask(old.client)).toMatchObject({ status: 401, code: 'invalid_client' })
    expect(await ask(young.client)).toMatchObject({ status: 404 })
    const statuses = [old, young].map(({ told }) => told.map(({ status }) => status))
    expect(statuses).toEqual([
      [404, 401],
      [404, 404],
    ])
  })
})

describe('POST /oauth2/token, 200', () => {
  test('client id and secret by HTTP Basic or in the body get a token of one hour with all scopes that it was given', async () => {
    const partner = await service.newPartner()
    const inBody = { ...grant, client_id: partner.clientId, client_secret: partner.clientSecret }
    for (const answer of [await askToken(grant, own(partner)), await askToken(inBody)]) {
      expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 3600 } })
      expect(Object.keys(answer.body as object)).toEqual([
        'access_token',
        'token_type',
        'expires_in',
        'scope',
      ])
      expect(answer.body).toMatchObject({
        scope:
          'prefill:write benefits:read benefits:write users:read users:write users:cancel offers:write ' +
          'linktokens:create events:read statements:read beneficiaries:read dependants:read webhooks:write sandbox:control',
      })
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(tokenOf(answer)).toMatch(/^enr_at_sandbox_[\dA-Za-z]+_[\dA-Za-z]{49}$/)
      expect(await statusWith(partner, tokenOf(answer))).toBe(404)
    }
  })

  test('a partner whose scopes nobody set gets all but those of beneficiaries, and cannot ask for these', async () => {
    const partner = await service.newPartner({ scopes: undefined })
    const answer = await askToken(grant, own(partner))
    expect((answer.body as { scope: string }).scope).toBe(
      'prefill:write benefits:read benefits:write users:read users:write users:cancel offers:write ' +
        'linktokens:create events:read statements:read webhooks:write sandbox:control',
    )
    expect(await askToken({ ...grant, scope: 'beneficiaries:read' }, own(partner))).toMatchObject({
      status: 400,
      code: 'invalid_scope',
    })
  })

  test('a partner that was given few scopes gets these by default', async () => {
    const partner = await service.newPartner({ scopes: ['users:read'] })
    expect((await askToken(grant, own(partner))).body).toMatchObject({ scope: 'users:read' })
  })

  test('a media type with charset, an unknown parameter and an empty scope are no fault (RFC 6749 §3.2)', async () => {
    const partner = await service.newPartner()
    const answer = await send(service, 'POST', '/oauth2/token', {
      headers: { authorization: own(partner), 'content-type': `${form}; charset=UTF-8` },
      bytes: 'grant_type=client_credentials&scope=&resource=x',
    })
    expect(answer.status).toBe(200)
  })

  test('a token is of no use after its hour', async () => {
    const partner = await service.newPartner()
    const token = await partner.token()
    service.advance(3_599_000)
    expect(await statusWith(partner, token)).toBe(404)
    service.advance(1000)
    expect(await statusWith(partner, token)).toBe(401)
  })
})

describe('POST /oauth2/token, refused in the form of RFC 6749', () => {
  test('every refusal is no-store JSON with error and error_description only', async () => {
    const answer = await askToken({})
    expect(Object.keys(answer.body as object)).toEqual(['error', 'error_description'])
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('400 invalid_request: no grant_type, a parameter twice, credentials in two places, JSON', async () => {
    const partner = await service.newPartner()
    const inBody = { client_id: partner.clientId, client_secret: partner.clientSecret }
    const answers = [
      await askToken({}, own(partner)),
      await askToken('grant_type=client_credentials&grant_type=client_credentials', own(partner)),
      await askToken({ ...grant, ...inBody }, own(partner)),
      await askToken({ ...grant, client_id: 'someone-else' }, own(partner)),
      await send(service, 'POST', '/oauth2/token', {
        headers: { 'content-type': 'application/json' },
        body: { ...grant, ...inBody },
      }),
      await sendBytes(service, {
        method: 'POST',
        path: '/oauth2/token',
        headers: [
          ['Authorization', own(partner)],
          ['Authorization', own(partner)],
          ['Content-Type', form],
        ],
        body: 'grant_type=client_credentials',
      }),
    ]
    expect(answers.map(answer => [answer.status, answer.code])).toEqual(
      answers.map(() => [400, 'invalid_request']),
    )
  })

  test('400 unsupported_grant_type: any grant but client credentials', async () => {
    const partner = await service.newPartner()
    for (const grant_type of ['password', 'authorization_code', 'CLIENT_CREDENTIALS']) {
      expect(await askToken({ grant_type }, own(partner))).toMatchObject({
        status: 400,
        code: 'unsupported_grant_type',
      })
    }
  })

  test('401 invalid_client: no credentials and broken headers', async () => {
    for (const authorization of [undefined, 'Basic', 'Basic !!!', 'Basic YQ==', 'Bearer abc']) {
      const answer = await askToken(grant, authorization)
      expect(answer).toMatchObject({ status: 401, code: 'invalid_client' })
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer, Basic realm=/)
    }
  })

  test('other faults of the request keep their own status, in the same form: 405 with Allow, 413, 431', async () => {
    for (const path of ['/oauth2/token', '/oauth2/revoke?x=1']) {
      const wrongMethod = await send(service, 'GET', path)
      expect(wrongMethod).toMatchObject({ status: 405, body: { error: 'method_not_allowed' } })
      expect(wrongMethod.headers.get('allow')).toBe('POST')
      const many = Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`x-${index}`, '']))
      expect(await send(service, 'POST', path, { headers: many })).toMatchObject({
        status: 431,
        body: { error: 'headers_too_large' },
      })
    }
    const tooLarge = await askToken(`grant_type=${'x'.repeat(65_536)}`)
    expect(tooLarge).toMatchObject({ status: 413, body: { error: 'body_too_large' } })
    expect(Object.keys(tooLarge.body as object)).toEqual(['error', 'error_description'])
    expect(tooLarge.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(tooLarge.headers.get('cache-control')).toBe('no-store')
  })
})

describe('POST /oauth2/revoke', () => {
  const revoke = (partner: TestPartner, token: string) =>
    askToken({ token, token_type_hint: 'access_token' }, own(partner), '/oauth2/revoke')

  test('a revoked token is refused at once; revoking it again is 200', async () => {
    const partner = await service.newPartner()
    const token = await partner.token()
    expect(await statusWith(partner, token)).toBe(404)
    expect(await revoke(partner, token)).toMatchObject({ status: 200, body: {} })
    expect(await statusWith(partner, token)).toBe(401)
    expect((await revoke(partner, token)).status).toBe(200)
  })

  test('a token revoked by another process is refused within a second', async () => {
    const partner = await service.newPartner()
    const token = await partner.token()
    expect(await statusWith(partner, token)).toBe(404)
    const { ownId } = splitSecretId(parseSecret(token)?.id ?? '') ?? { ownId: '' }
    const { database } = service
    await revokeTokenRow(database, { partnerId: partner.partnerId, tokenId: ownId, at: service.now() })
    service.advance(1000)
    expect(await statusWith(partner, token)).toBe(401)
  })

  test("an unknown token and another partner's are answered 200, and the other's stays good", async () => {
    const [partner, other] = [await service.newPartner(), await service.newPartner()]
    const token = await other.token()
    expect((await revoke(partner, token)).status).toBe(200)
    expect((await revoke(partner, 'nonsense')).status).toBe(200)
    service.advance(1000)
    expect(await statusWith(other, token)).toBe(404)
  })

  test('refused like a token request: 401 without credentials, 400 without a token', async () => {
    const partner = await service.newPartner()
    expect(await askToken({ token: 'x' }, undefined, '/oauth2/revoke')).toMatchObject({
      status: 401,
      code: 'invalid_client',
    })
    expect(await askToken({}, own(partner), '/oauth2/revoke')).toMatchObject({
      status: 400,
      code: 'invalid_request',
    })
  })
})

test('secrets that name a partner who is not there are refused like other wrong ones, and recorded', async () => {
  const partner = await service.newPartner()
  const own = 'A'.repeat(16)
  const forged = (kind: SecretKind, rest: string) =>
    makeSecret(kind, 'sandbox', encodeUuid(uuidv7(service.now())) + rest).text
  expect(await statusWith(partner, forged('at', own))).toBe(401)
  expect(await askToken(grant, basic(partner.clientId, forged('cs', own)))).toMatchObject({
    status: 401,
    code: 'invalid_client',
  })
  // A page is no operation of the API, to whose description `send` holds each answer.
  const look = async (token: string) => (await fetch(`${service.baseUrl}/register/link/${token}`)).status
  expect(await look(forged('lt', encodeUuid(uuidv7(service.now()))))).toBe(await look('nonsense'))
  const refused = () =>
    service.database.query(sql`select times from audit_log where action = 'authenticate' and actor = ${own}`)
  await expect.poll(refused, { timeout: 60_000 }).toHaveLength(2)
})

describe('GET the metadata of RFC 8414', () => {
  test('names the endpoints by the base address, whatever the Host header says', async () => {
    const answer = await sendBytes(service, {
      method: 'GET',
      path: '/.well-known/oauth-authorization-server',
      headers: [['X-Forwarded-Host', 'evil.example']],
    })
    expect(answer.body).toMatchObject({
      issuer: service.baseUrl,
      token_endpoint: `${service.baseUrl}/oauth2/token`,
      revocation_endpoint: `${service.baseUrl}/oauth2/revoke`,
      grant_types_supported: ['client_credentials'],
    })
  })

  test('names the scopes that have a use, and tokens have these only: the clock’s in a sandbox', async () => {
    const scopesOf = async (of: TestService) => {
      const answer = await send(of, 'GET', '/.well-known/oauth-authorization-server')
      return (answer.body as { scopes_supported: string[] }).scopes_supported
    }
    await using live = await startTestService({ sandbox: false })
    const inSandbox = await scopesOf(service)
    expect(inSandbox).toContain('sandbox:control')
    const ofLive = inSandbox.filter(scope => scope !== 'sandbox:control')
    expect(await scopesOf(live)).toEqual(ofLive)
    // A token carries none that has no use either, and none can be asked for.
    const { clientId, clientSecret } = await live.newPartner({ scopes: undefined })
    const tokenFor = async (scope: string) => {
      const form = { ...grant, scope, client_id: clientId, client_secret: clientSecret }
      const answer = await fetch(`${live.baseUrl}/oauth2/token`, {
        method: 'POST',
        body: new URLSearchParams(form),
      })
      return (await answer.json()) as { scope?: string; error?: string }
    }
    expect((await tokenFor('')).scope?.split(' ')).toEqual(
      ofLive.filter(scope => !/^(beneficiaries|dependants):/.test(scope)),
    )
    expect((await tokenFor('sandbox:control')).error).toBe('invalid_scope')
  })

  test('under a stage path it stands before that path (RFC 8414 §3.1) and below it', async () => {
    await using staged = await startTestService({ basePath: '/v1/stage' })
    const { origin } = new URL(staged.baseUrl)
    const paths = [
      '/.well-known/oauth-authorization-server/v1/stage',
      '/v1/stage/.well-known/oauth-authorization-server',
    ]
    for (const path of paths) {
      const response = await fetch(origin + path)
      expect(await response.json()).toMatchObject({
        issuer: staged.service().baseUrl,
        token_endpoint: `${staged.service().baseUrl}/oauth2/token`,
      })
    }
    const { client } = await staged.newPartner()
    await expect(client.getUser({ userid: 'nobody' })).rejects.toMatchObject({ code: 'user_not_found' })
  })
})

test('tokens that a partner asks for at once are stored by one statement, which leaves the other connections to others', async () => {
  const { database } = service
  const partners = [await service.newPartner(), await service.newPartner()]
  const store = openTokenStore(database)
  const scopes = ['prefill:write', 'benefits:read']
  const rows = await Promise.all(
    partners.map(async ({ partnerId: partner_id }) => {
      const [credential] = await listCredentials(database, partner_id)
      const { credential_id = '', pepper_id = '' } = credential ?? {}
      const [issued_at, hash] = [service.now(), Buffer.alloc(32)]
      return Array.from({ length: 200 }, (_, index) => ({
        ...{ partner_id, token_id: `burst-${index}`, credential_id, pepper_id, hash, scopes },
        ...{ issued_at, expires_at: issued_at + 1000 },
      }))
    }),
  )
  await Promise.all(rows.flat().map(store))
  for (const { partnerId } of partners) {
    const [stored] = await database.query(sql`
      select count(*)::integer as tokens, count(distinct xmin::text)::integer as writes, min(scopes) as scopes
      from access_tokens where partner_id = ${partnerId}`)
    expect(stored).toEqual({ tokens: 200, writes: 1, scopes })
  }
})
