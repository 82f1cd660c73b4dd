import { beforeAll, describe, expect, test } from 'vitest'
import { type Operation, type OperationIdOf, operations } from '../../contract/src/index.ts'
import { sql } from '../../service/src/db/sql.ts'
import { changePartner, revokeKey } from '../../service/src/partners/administer.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { encodeUuid, makeSecret } from '../../service/src/vault/secret.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { send } from '../api/raw.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService, type TestPartner } from '../rig.ts'

// The isolation matrix of the Authentication API, whose operations take a client's id and secret instead of a token.

/** What an operation is sent besides the client's credentials, when it names this token. */
type Row = { readonly names: 'token' | 'nothing'; readonly fields: (token: string) => Record<string, string> }

/** A row for each operation of a client: a missing row does not compile, nor does one too many. */
const rows: { readonly [Id in OperationIdOf<'client'>]: Row } = {
  issueToken: { names: 'nothing', fields: () => ({ grant_type: 'client_credentials' }) },
  revokeToken: { names: 'token', fields: token => ({ token }) },
}
const all: readonly Operation[] = Object.values(operations)
const clientOperations = all.filter(one => one.caller === 'client')
function rowOf(operation: Operation): Row {
  return rows[operation.id as OperationIdOf<'client'>]
}

const service = forAllTests(startTestService)
const own = forAllTests(() => service.newPartner())
const other = forAllTests(() => service.newPartner())

/** The tokens that a request can name. */
let tokens: Readonly<Record<'own' | 'living' | 'deleted' | 'unknown' | 'guessed' | 'malformed', string>>
beforeAll(async () => {
  const deleted = await other.token()
  await send(service, 'POST', '/oauth2/revoke', inForm(other, { token: deleted }))
  const living = await other.token()
  const ofNobody = encodeUuid(uuidv7(service.now()))
  tokens = {
    own: await own.token(),
    living,
    deleted,
    unknown: makeSecret('at', 'sandbox', encodeUuid(own.partnerId) + ofNobody.slice(-16)).text,
    // It names the living token, but for its random part.
    guessed: makeSecret('at', 'sandbox', living.split('_')[3] ?? '').text,
    malformed: 'a\u0007b',
  }
})

type Client = { readonly clientId: string; readonly clientSecret: string }
type Sending = { readonly headers: Record<string, string>; readonly bytes: string }
const form = 'application/x-www-form-urlencoded'

function inForm({ clientId, clientSecret }: Client, fields: Record<string, string>): Sending {
  const whole = new URLSearchParams({ ...fields, client_id: clientId, client_secret: clientSecret })
  return { headers: { 'content-type': form }, bytes: whole.toString() }
}
function withHeader(authorization: string, fields: Record<string, string>): Sending {
  return { headers: { 'content-type': form, authorization }, bytes: new URLSearchParams(fields).toString() }
}
function byBasic({ clientId, clientSecret }: Client, fields: Record<string, string>): Sending {
  const text = [clientId, clientSecret].map(encodeURIComponent).join(':')
  return withHeader(`Basic ${Buffer.from(text).toString('base64')}`, fields)
}

async function isGood(partner: TestPartner, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': partner.apiKey }
  return (await send(service, 'GET', '/webhooks', { headers })).status === 200
}
/** The state that a refused request must not change. */
function stateOfTokens() {
  return service.database.query(sql`
    select partner_id, token_id, revoked_at from access_tokens order by partner_id, token_id`)
}

test('every operation of a client stands in the matrix; the others are a partner’s, or open to everybody', () => {
  expect(Object.keys(rows).sort()).toEqual(clientOperations.map(one => one.id).sort())
  expect([...new Set(all.map(one => one.caller))].sort()).toEqual(['client', 'open', 'partner'])
})

describe('whose credentials are sent', () => {
  /** Credentials that are no client's, or no longer. */
  let bad: Readonly<Record<string, Client>>
  beforeAll(async () => {
    const revoked = await service.newPartner()
    const disabled = await service.newPartner()
    // Credentials that never held would be refused for that reason.
    for (const partner of [revoked, disabled]) expect(await isGood(partner, await partner.token())).toBe(true)
    const secret = (await listCredentials(service.database, revoked.partnerId)).find(
      one => one.kind === 'client_secret',
    )
    await revokeKey(revoked.partnerId, secret?.credential_id ?? '', service.manage)
    await changePartner(disabled.partnerId, { isDisabled: true }, service.manage)
    service.advance(1000)
    const { clientId, clientSecret } = own
    const guessed = makeSecret('cs', 'sandbox', clientSecret.split('_')[3] ?? '').text
    bad = {
      'a secret that nobody has': { clientId, clientSecret: 'nonsense' },
      'a guessed secret': { clientId, clientSecret: guessed },
      "another's secret": { clientId, clientSecret: other.clientSecret },
      "another's id": { clientId: other.clientId, clientSecret },
      'an id that nobody has': { clientId: 'enr_client_nobody', clientSecret },
      'the API key': { clientId, clientSecret: own.apiKey },
      'an access token': { clientId, clientSecret: tokens.own },
      'a revoked secret': revoked,
      'a disabled partner': disabled,
    }
  })

  test.each(clientOperations)(
    '$id refuses all that do not hold, in the same words whatever is named, and changes nothing',
    async operation => {
      const { names, fields } = rowOf(operation)
      const before = await stateOfTokens()
      const words = new Set<string>()
      const named = names === 'nothing' ? [''] : Object.values(tokens)
      for (const [who, client] of Object.entries(bad))
        for (const token of named)
          for (const sending of [inForm(client, fields(token)), byBasic(client, fields(token))]) {
            const answer = await send(service, 'POST', operation.path, sending)
            expect([who, answer.status, answer.code]).toEqual([who, 401, 'invalid_client'])
            expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer, Basic realm=/)
            words.add(answer.text)
          }
      expect([...words]).toHaveLength(1)
      expect(await stateOfTokens()).toEqual(before)
    },
  )

  test.each(clientOperations)(
    '$id refuses who sends no client, a token in its place, or two',
    async operation => {
      const { fields } = rowOf(operation)
      const before = await stateOfTokens()
      for (const token of Object.values(tokens)) {
        const asked = fields(token)
        const inBody = { ...asked, client_id: other.clientId, client_secret: other.clientSecret }
        const two = byBasic(own, inBody)
        const nobody = { headers: { 'content-type': form }, bytes: new URLSearchParams(asked).toString() }
        const withKey = { ...nobody, headers: { ...nobody.headers, 'x-api-key': own.apiKey } }
        for (const [who, sending, status, code] of [
          ['nobody', nobody, 401],
          ['a token', withHeader(`Bearer ${tokens.own}`, asked), 401],
          ['the API key', withKey, 401],
          ['two', two, 400, 'invalid_request'],
        ] as const) {
          const answer = await send(service, 'POST', operation.path, sending)
          expect([who, answer.status, answer.code]).toEqual([who, status, code ?? 'invalid_client'])
        }
      }
      expect(await stateOfTokens()).toEqual(before)
    },
  )
})

describe('what is named', () => {
  test('a client that revokes a token of another, of nobody, or none at all, gets the same answer and changes nothing', async () => {
    const before = await stateOfTokens()
    const { own: _own, ...foreign } = tokens
    const secrets = { key: other.apiKey, secret: other.clientSecret, 'own secret': own.clientSecret }
    for (const [what, token] of Object.entries({ ...foreign, ...secrets })) {
      const answer = await send(service, 'POST', '/oauth2/revoke', byBasic(own, { token }))
      expect([what, answer.status, answer.text]).toEqual([what, 200, '{}'])
    }
    service.advance(1000)
    expect(await stateOfTokens()).toEqual(before)
    expect(await isGood(other, tokens.living)).toBe(true)
    const mine = await send(service, 'POST', '/oauth2/revoke', byBasic(own, { token: tokens.own }))
    expect([mine.status, mine.text]).toEqual([200, '{}'])
    expect(await isGood(own, tokens.own)).toBe(false)
  })

  test('a client gets no scope that it was not given, and a token that serves with its own key only', async () => {
    const narrow = await service.newPartner({ scopes: ['users:read'] })
    const grant = { grant_type: 'client_credentials' }
    for (const scope of ['users:write', 'users:read users:write', 'nonsense']) {
      const answer = await send(service, 'POST', '/oauth2/token', byBasic(narrow, { ...grant, scope }))
      expect([scope, answer.status, answer.code]).toEqual([scope, 400, 'invalid_scope'])
    }
    const { body } = await send(service, 'POST', '/oauth2/token', byBasic(narrow, grant))
    const { access_token, scope } = body as { access_token: string; scope: string }
    expect(scope).toBe('users:read')
    const headers = {
      authorization: `Bearer ${access_token}`,
      'x-api-key': other.apiKey,
      'content-type': 'application/json',
    }
    const answer = await send(service, 'POST', '/user/account/get', { headers, body: { userid: 'nobody' } })
    expect([answer.status, answer.code]).toEqual([401, 'invalid_api_key'])
  })
})
