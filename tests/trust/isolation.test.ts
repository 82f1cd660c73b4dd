import { beforeAll, describe, expect, test } from 'vitest'
import { type Operation, type OperationIdOf, operations, scopeNames } from '../../contract/src/index.ts'
import { changePartner, revokeKey } from '../../service/src/partners/administer.ts'
import { type CredentialKind, listCredentials } from '../../service/src/partners/store.ts'
import { encodeUuid, makeSecret } from '../../service/src/vault/secret.ts'
import { uuidv7 } from '../../service/src/vault/uuid.ts'
import { type Answer, send } from '../api/raw.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, child, startTestService, type TestPartner } from '../rig.ts'

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
  /** What stands in the path where it names nothing of a partner. */
  readonly at?: string
  /** The query that it needs. */
  readonly query?: string
  /** The operation creates an unknown user, so it answers 200 even for a userid that another partner also has. */
  readonly makes?: true
}

function user(more: Record<string, unknown> = {}): Row {
  return {
    names: 'userid',
    body: id => ({ userid: id, ...more }),
  }
}
const endpoint = { url: 'http://127.0.0.1:9/hook', username: 'matrix', password: 'secret' }

/** A row for each partner operation: a missing row does not compile, nor does one too many. */
const rows: { readonly [Id in OperationIdOf<'partner'>]: Row } = {
  prefillUser: { ...user(), makes: true },
  getBenefits: user(adaAsks),
  createUser: { ...user({ ...ada, offername: 'starter' }), makes: true },
  getUser: user({ include: ['timeline', 'insurer'] }),
  listUsers: { names: 'nothing' },
  updateUser: user({ phone: '3055550199' }),
  cancelUser: { names: 'userid' },
  reinstateUser: user(),
  eraseUser: user(),
  bulk: {
    names: 'userid',
    body: id => ({ operation: 'update', body: { userid: id, phone: '3055550199' } }),
  },
  getBeneficiaries: user(),
  getDependants: user(),
  setDependants: user({ dependants: [] }),
  changeOffer: user({ offername: 'plus' }),
  undoOfferChange: { names: 'userid' },
  listAvailableOffers: user(),
  previewOfferChange: user({ offername: 'plus' }),
  swapBenefits: user({ add: [], remove: [] }),
  undoSwap: { names: 'userid' },
  enrolBenefit: user({ name: 'telehealth' }),
  declineBenefit: user({ name: 'telehealth' }),
  changeCover: user({ name: 'telehealth', dependants: [] }),
  undoCover: { names: 'userid', query: '?name=telehealth' },
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
  listStatements: { names: 'nothing' },
  listStatementLines: { names: 'nothing', at: '2020-01' },
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

async function ask(operation: Operation, id: string, credentials: Credentials): Promise<Answer> {
  const { body: bodyOf, at = id, query = '' } = rowOf(operation)
  const body = bodyOf?.(id)
  const type = operation.lines ? 'application/x-ndjson' : 'application/json'
  const answer = await send(
    service,
    operation.method,
    operation.path.replace(/\{\w+\}/, encodeURIComponent(at)) + query,
    {
      headers: { ...credentials, ...(body ? { 'content-type': type } : {}) },
      ...(body ? { body } : {}),
    },
  )
  return operation.lines && answer.status === 200 ? onlyLineOf(answer) : answer
}

/** The answer to the only line of a bulk, as if it were that of a request. */
function onlyLineOf(answer: Answer): Answer {
  const { status, body } = JSON.parse(answer.text) as { status: number; body: { code?: string } }
  return { ...answer, status, body, code: body.code }
}

/** An answer without the parts that differ between requests. */
function saidBy({ status, code, body }: Answer) {
  const { detail, errors } = (body ?? {}) as { detail?: string; errors?: unknown }
  return { status, code, detail: status < 400 ? '' : detail, errors: status < 400 ? [] : errors }
}

test('every operation of a partner stands in the matrix, and nothing else', () => {
  expect(Object.keys(rows).sort()).toEqual(partnerOperations.map(one => one.id).sort())
})

test('a partner deletes plans, endpoints and links, but no record, and raises no event but a test', () => {
  const idsOf = (is: (operation: Operation) => boolean) =>
    partnerOperations
      .filter(is)
      .map(({ id }) => id)
      .sort()
  expect(idsOf(({ method }) => method === 'DELETE')).toEqual(
    ['cancelUser', 'undoOfferChange', 'undoSwap', 'undoCover', 'deleteWebhook', 'revokeLinkToken'].sort(),
  )
  expect(idsOf(({ method, path }) => method !== 'GET' && /event|audit|test/i.test(path))).toEqual(
    ['replayEvent', 'testWebhook'].sort(),
  )
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

test('a dependant of somebody else is as unknown as nobody’s, whosever they are', async () => {
  const join = async ({ client }: TestPartner, userid: string, picks: string[]) => {
    const dependants = [{ ...child, benefits: picks.includes('dental') ? child.benefits : [] }]
    await client.createUser({ userid, ...ada, offername: 'plus', benefits: picks, dependants })
    return (await client.getDependants({ userid })).dependants[0]?.dependantid ?? ''
  }
  const [mine, theirs] = [await service.newPartner(), await service.newPartner()]
  await join(mine, 'kin', ['telehealth'])
  const unknown = uuidv7(service.now())
  const ids = [unknown, await join(mine, 'cousin', ['dental']), await join(theirs, 'kin', ['dental'])]
  const covered = (id: string) => [{ name: 'dental', dependants: [id] }]
  const { benefits: _, ...person } = child
  const requests: Readonly<Record<string, (id: string) => object>> = {
    '/user/benefits/cover': id => ({ name: 'hospital', dependants: [id] }),
    '/user/benefits/enrol': id => ({ name: 'dental', covered: covered(id) }),
    '/user/benefits/swap': id => ({ add: ['dental'], remove: ['telehealth'], covered: covered(id) }),
    '/user/account/dependants/set': id => ({ dependants: [{ ...person, dependantid: id }] }),
  }
  const headers = { ...(await credentialsOf(mine)), 'content-type': 'application/json' }
  for (const [path, bodyOf] of Object.entries(requests)) {
    const answers = []
    for (const id of ids) {
      const body = { userid: 'kin', ...bodyOf(id) }
      answers.push(saidBy(await send(service, 'POST', path, { headers, body })))
    }
    expect(answers[0]).toMatchObject({ status: 400, code: 'dependant_unknown' })
    expect([path, answers[1], answers[2]]).toEqual([path, answers[0], answers[0]])
  }
})

describe('whose credentials are sent', () => {
  let bad: Record<string, { credentials: Credentials; status: number; code: string }>
  let before: unknown
  beforeAll(async () => {
    const expired = await credentialsOf(own)
    await mustHold(expired)
    service.advance(3_600_001)
    // The others are issued within this hour, so that each is refused for its own reason and for no other.
    const refused = async (why: (partner: TestPartner, credentials: Credentials) => Promise<unknown>) => {
      const partner = await service.newPartner()
      const credentials = await credentialsOf(partner)
      await mustHold(credentials)
      await why(partner, credentials)
      return credentials
    }
    const revokeOldest = async ({ partnerId }: TestPartner, kind: CredentialKind) => {
      const rows = await listCredentials(service.database, partnerId)
      await revokeKey(partnerId, rows.find(one => one.kind === kind)?.credential_id ?? '', service.manage)
    }
    const invalid = async (credentials: Credentials | Promise<Credentials>) => ({
      credentials: await credentials,
      status: 401,
      code: 'unauthorized',
    })
    const invalidKey = async (credentials: Credentials | Promise<Credentials>) => ({
      credentials: await credentials,
      status: 401,
      code: 'invalid_api_key',
    })
    const fresh = await credentialsOf(own)
    const { 'x-api-key': _key, ...withoutKey } = fresh
    bad = {
      none: await invalid({}),
      'the key alone': await invalid({ 'x-api-key': own.apiKey }),
      expired: await invalid(expired),
      'revoked token': await invalid(refused(revokeTokenOf)),
      'revoked secret': await invalid(refused(partner => revokeOldest(partner, 'client_secret'))),
      disabled: await invalid(
        refused(({ partnerId }) => changePartner(partnerId, { isDisabled: true }, service.manage)),
      ),
      'no key': await invalidKey(withoutKey),
      "another's key": await invalidKey({ ...fresh, 'x-api-key': other.apiKey }),
      "another's token": await invalidKey({ ...(await credentialsOf(other)), 'x-api-key': own.apiKey }),
      'revoked key': await invalidKey(refused(partner => revokeOldest(partner, 'api_key'))),
    }
    // A revocation holds within a second.
    service.advance(1000)
    await mustHold(fresh)
    before = await stateOfPartners()
  })

  /** Credentials that never held would be refused for that reason. */
  async function mustHold(credentials: Credentials) {
    expect(await ask(operations.listWebhooks, '', credentials)).toMatchObject({ status: 200 })
  }
  function revokeTokenOf(partner: TestPartner, { authorization = '' }: Credentials) {
    const { clientId: client_id, clientSecret: client_secret } = partner
    const fields = { client_id, client_secret, token: authorization.slice('Bearer '.length) }
    return fetch(`${service.baseUrl}${operations.revokeToken.path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
    })
  }

  /** The state that a refused request must not change. */
  async function stateOfPartners() {
    const found: unknown[] = []
    for (const [{ client }, { userid }] of [
      [own, things.own],
      [other, things.living],
    ] as const)
      found.push(
        await client.getUser({ userid, include: ['timeline'] }),
        await client.listWebhooks({}),
        await client.listEvents({}),
      )
    return found
  }

  /** The id of each kind that an operation can be sent. */
  function idsOf({ names }: Row): readonly string[] {
    if (names === 'nothing') return ['']
    const unknown = names === 'userid' ? 'nobody' : uuidv7(service.now())
    return [things.own[names], things.living[names], things.deleted[names], unknown, 'a\u0007b']
  }

  function answersTo(operation: Operation, credentials: Credentials) {
    return Promise.all(idsOf(rowOf(operation)).map(async id => saidBy(await ask(operation, id, credentials))))
  }

  test.each(partnerOperations)(
    '$id refuses all that do not hold, in the same words whatever is named',
    async operation => {
      for (const [who, { credentials, status, code }] of Object.entries(bad)) {
        const answers = await answersTo(operation, credentials)
        expect([who, answers[0]]).toMatchObject([who, { status, code }])
        expect([who, ...answers]).toEqual([who, ...answers.map(() => answers[0])])
      }
    },
  )

  test.each(partnerOperations.filter(({ scope }) => scope !== undefined))(
    '$id refuses a token without its scope, in the same words whatever is named',
    async operation => {
      // All other scopes: none of them stands in for this one.
      const partner = await service.newPartner({ scopes: scopeNames.filter(one => one !== operation.scope) })
      const answers = await answersTo(operation, await credentialsOf(partner))
      expect(answers[0]).toMatchObject({ status: 403, code: 'insufficient_scope' })
      expect(answers).toEqual(answers.map(() => answers[0]))
    },
  )

  test('and nothing that they named has changed', async () => {
    expect(await stateOfPartners()).toEqual(before)
  })
})
