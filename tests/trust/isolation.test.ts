import { beforeAll, describe, expect, test } from 'vitest'
import { type Operation, type OperationIdOf, operations } from '../../contract/src/index.ts'
import { changePartner, revokeKey } from '../../service/src/partners/administer.ts'
import { listCredentials } from '../../service/src/partners/store.ts'
import { encodeUuid } from '../../service/src/vault/base62.ts'
import { makeSecret } from '../../service/src/vault/secret.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { type Answer, send } from '../api/raw.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService, type TestPartner } from '../rig.ts'

// The isolation matrix: every operation × whose id it names × whose credentials it has.

/** The things of one partner that a request can name. */
type Named = {
  readonly userid: string
  readonly webhookid: string
  readonly eventid: string
  readonly sessionid: string
}
/** The ids that an operation names, and the rest of its request. */
type Row = {
  readonly names: keyof Named | 'nothing'
  readonly body?: (id: string) => Record<string, unknown>
  /** The operation creates an unknown user, so it answers 200 even for a userid that another partner also has. */
  readonly makes?: true
}

function user(more: Record<string, unknown> = {}): Row {
  return {
    names: 'userid',
    body: id => ({ userid: id, ...more }),
  }
}
const grace = { kind: 'primary', name: 'Grace', relationship: 'spouse', share: 100 } as const
const endpoint = { url: 'http://127.0.0.1:9/hook', username: 'matrix', password: 'secret' }

/** A row for each partner operation: a missing row does not compile, nor does one too many. */
const rows: { readonly [Id in OperationIdOf<'partner'>]: Row } = {
  prefillUser: { ...user(), makes: true },
  getBenefits: user(adaAsks),
  createUser: { ...user({ ...ada, offername: 'starter' }), makes: true },
  getUser: user({ include: ['timeline'] }),
  updateUser: user({ phone: '3055550199' }),
  cancelUser: { names: 'userid' },
  reinstateUser: user(),
  eraseUser: user(),
  getBeneficiaries: user(),
  proposeBeneficiaries: user({ name: 'life', beneficiaries: [{ ...grace }] }),
  changeOffer: user({ offername: 'plus' }),
  undoOfferChange: { names: 'userid' },
  listAvailableOffers: user(),
  previewOfferChange: user({ offername: 'plus' }),
  swapBenefits: user({ add: [], remove: [] }),
  undoSwap: { names: 'userid' },
  enrolBenefit: user({ name: 'telehealth' }),
  declineBenefit: user({ name: 'telehealth' }),
  listWebhooks: { names: 'nothing' },
  createWebhook: { names: 'nothing', body: () => endpoint },
  getWebhook: { names: 'webhookid' },
  updateWebhook: { names: 'webhookid', body: () => ({ ordering: 'none' }) },
  deleteWebhook: { names: 'webhookid' },
  testWebhook: { names: 'webhookid' },
  enableWebhook: { names: 'webhookid' },
  replayWebhook: { names: 'webhookid', body: () => ({ status: 'dead' }) },
  listEvents: { names: 'nothing' },
  getEvent: { names: 'eventid' },
  listAttempts: { names: 'eventid' },
  replayEvent: { names: 'eventid' },
  createLinkToken: { ...user(), makes: true },
  revokeLinkToken: { names: 'sessionid' },
  exchangeResult: { names: 'sessionid', body: id => ({ resulttoken: resultTokenOf(id) }) },
  advanceClock: { names: 'nothing', body: () => ({ advanceto: '2020-01-01T00:00:00.000Z' }) },
}

const partnerOperations = (Object.values(operations) as Operation[]).filter(one => one.caller === 'partner')
function rowOf(operation: Operation): Row {
  return rows[operation.id as OperationIdOf<'partner'>]
}

const service = forAllTests(startTestService)
const own = forAllTests(() => service.newPartner())
const other = forAllTests(() => service.newPartner())
/** For each partner: the living things, and the deleted ones. */
let things: { own: Named; living: Named; deleted: Named }
beforeAll(async () => {
  things = {
    own: await fill(own, 'own'),
    living: await fill(other, 'living'),
    deleted: await fill(other, 'deleted'),
  }
  await other.client.eraseUser({ userid: 'deleted' })
  await other.client.deleteWebhook({ webhookid: things.deleted.webhookid })
})

async function fill({ client }: TestPartner, userid: string): Promise<Named> {
  await client.createUser({ userid, ...ada, offername: 'starter' })
  const { webhookid } = await client.createWebhook(endpoint)
  const { events } = await client.listEvents({ userid })
  const { sessionid } = await client.createLinkToken({ userid })
  return { userid, webhookid, eventid: events[0]?.eventid ?? '', sessionid }
}

/** A result token of a session with a guessed random part. */
function resultTokenOf(sessionid: string): string {
  return makeSecret(
    'rt',
    'sandbox',
    encodeUuid(other.partnerId) + (isUuid(sessionid) ? encodeUuid(sessionid) : 'x'),
  ).text
}
function isUuid(text: string) {
  return /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(text)
}

type Credentials = Readonly<Record<string, string>>
async function credentialsOf(partner: TestPartner): Promise<Credentials> {
  return {
    authorization: `Bearer ${await partner.token()}`,
    'x-api-key': partner.apiKey,
  }
}

function ask(operation: Operation, id: string, credentials: Credentials): Promise<Answer> {
  const body = rowOf(operation).body?.(id)
  return send(service, operation.method, operation.path.replace(/\{\w+\}/, encodeURIComponent(id)), {
    headers: { ...credentials, ...(body ? { 'content-type': 'application/json' } : {}) },
    ...(body ? { body } : {}),
  })
}

/** An answer without the parts that differ between requests. */
function saidBy({ status, code, body }: Answer) {
  const { detail, errors } = (body ?? {}) as { detail?: string; errors?: unknown }
  return { status, code, detail: status < 400 ? '' : detail, errors: status < 400 ? [] : errors }
}

test('every operation of a partner stands in the matrix, and nothing else', () => {
  expect(Object.keys(rows).sort()).toEqual(partnerOperations.map(one => one.id).sort())
})

describe('whose id is named', () => {
  const naming = partnerOperations.filter(one => rowOf(one).names !== 'nothing')
  test.each(naming)(
    "$id answers another's living and deleted id exactly as an unknown one",
    async operation => {
      const { names, makes } = rowOf(operation)
      if (names === 'nothing') return
      const credentials = await credentialsOf(await service.newPartner())
      const unknown = names === 'userid' ? 'nobody' : uuidv7(service.now())
      const answers = []
      for (const id of [unknown, things.living[names], things.deleted[names]])
        answers.push(saidBy(await ask(operation, id, credentials)))
      expect(answers[0]?.status).toBe(makes ? 200 : 404)
      expect(answers[1]).toEqual(answers[0])
      expect(answers[2]).toEqual(answers[0])
    },
  )

  test.each(naming)('$id answers its own id otherwise', async operation => {
    const { names, makes } = rowOf(operation)
    if (names === 'nothing' || makes || operation.id === 'exchangeResult') return
    const partner = await service.newPartner()
    const mine = await fill(partner, 'own')
    expect((await ask(operation, mine[names], await credentialsOf(partner))).status).not.toBe(404)
  })

  test.each(naming)('$id refuses a malformed id as it declares', async operation => {
    const credentials = await credentialsOf(own)
    for (const id of [
      'a\u0007b',
      'x'.repeat(200),
      "' or 1=1",
      '%00',
      '00000000-0000-0000-0000-00000000000g',
    ]) {
      const { status } = await ask(operation, id, credentials)
      const isUserid = rowOf(operation).names === 'userid'
      expect(isUserid ? [200, 400, 404] : [400, 404]).toContain(status)
    }
  })
})

describe('whose credentials are sent', () => {
  let bad: Record<string, { credentials: Credentials; status: number; code: string }>
  beforeAll(async () => {
    const good = await credentialsOf(own)
    const revoked = await service.newPartner()
    const revokedCredentials = await credentialsOf(revoked)
    const secret = (await listCredentials(service.database, revoked.partnerId)).find(
      one => one.kind === 'client_secret',
    )
    await revokeKey(revoked.partnerId, secret?.credential_id ?? '', service.manage)
    const disabled = await service.newPartner()
    const disabledCredentials = await credentialsOf(disabled)
    await changePartner(disabled.partnerId, { isDisabled: true }, service.manage)
    const expired = await credentialsOf(own)
    service.advance(3_600_001)
    const fresh = await credentialsOf(own)
    bad = {
      none: { credentials: {}, status: 401, code: 'unauthorized' },
      expired: { credentials: expired, status: 401, code: 'unauthorized' },
      revoked: { credentials: revokedCredentials, status: 401, code: 'unauthorized' },
      "another's key": {
        credentials: { ...fresh, 'x-api-key': other.apiKey },
        status: 401,
        code: 'invalid_api_key',
      },
      disabled: { credentials: disabledCredentials, status: 401, code: 'unauthorized' },
      old: { credentials: good, status: 401, code: 'unauthorized' },
    }
  })

  test.each(partnerOperations)('$id refuses all that do not hold, whatever is named', async operation => {
    const { names } = rowOf(operation)
    const ids = names === 'nothing' ? [''] : [things.own[names], things.living[names]]
    for (const { credentials, status, code } of Object.values(bad))
      for (const id of ids) expect(await ask(operation, id, credentials)).toMatchObject({ status, code })
  })

  test.each(partnerOperations)(
    '$id refuses a token without its scope, whatever is named',
    async operation => {
      const scope = operation.scope === 'users:read' ? 'users:write' : 'users:read'
      const partner = await service.newPartner({ scopes: [scope] })
      const credentials = await credentialsOf(partner)
      const { names } = rowOf(operation)
      for (const id of names === 'nothing' ? [''] : [things.own[names], things.living[names]])
        expect(await ask(operation, id, credentials)).toMatchObject({
          status: 403,
          code: 'insufficient_scope',
        })
    },
  )
})

describe('the page', () => {
  test('answers every handle that is none of ours in the same way, and tells nothing of a person without a living one', async () => {
    const partner = await service.newPartner({ origins: ['http://localhost:9'] })
    await partner.client.createUser({ userid: 'page', ...ada, offername: 'starter' })
    const open = async () => {
      const { linktoken, sessionid } = await partner.client.createLinkToken({
        userid: 'page',
        purpose: 'benefits',
        delivery: 'embed',
      })
      const response = await fetch(`${service.baseUrl}/embed/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ linktoken, origin: 'http://localhost:9' }),
      })
      const { handle } = (await response.json()) as { handle: string }
      return { handle, sessionid }
    }
    const look = async (handle: string) => {
      const response = await fetch(`${service.baseUrl}/register/benefits`, {
        headers: { authorization: `Session ${handle}` },
      })
      return { status: response.status, html: await response.text() }
    }
    const living = await open()
    expect((await look(living.handle)).status).toBe(200)
    const revoked = await open()
    await partner.client.revokeLinkToken({ sessionid: revoked.sessionid })
    const guessed = makeSecret(
      'sh',
      'sandbox',
      encodeUuid(partner.partnerId) + encodeUuid(living.sessionid),
    ).text
    const { linktoken } = await partner.client.createLinkToken({ userid: 'page' })
    const handles = [guessed, linktoken, 'nonsense', partner.apiKey, await partner.token()]
    const unknown = await look(handles[0] ?? '')
    expect(unknown.status).toBe(401)
    for (const handle of handles) expect(await look(handle)).toEqual(unknown)
    // A browser whose session has ended may see whose page it was, and no personal data.
    const ended = [await look(revoked.handle)]
    await changePartner(partner.partnerId, { isDisabled: true }, service.manage)
    service.advance(1000)
    ended.push(await look(living.handle))
    for (const { status, html } of [unknown, ...ended]) {
      expect(status).toBe(401)
      expect(html).not.toMatch(/Adacanary|Riveracanary|3055550142/)
    }
  })
})
