import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Operation, type OperationId, operations, type partnerErrors } from '../../contract/src/index.ts'
import { ada, adaAsks, startTestService, type TestService } from '../rig.ts'
import { catalogueOf } from './catalogue-of.ts'
import { type Answer, type Caller, openCaller, send, sendBytes } from './send.ts'

let service: TestService
beforeAll(async () => {
  service = await startTestService()
})
afterAll(() => service[Symbol.asyncDispose]())

type Recipe = (caller: Caller, operation: Operation) => Promise<Answer>
const pathOf = (operation: Operation) => operation.path.replace(/\{\w+\}/g, 'u1')
const isRead = (operation: Operation) => operation.method === 'GET'

/** How any operation of a partner is brought to each of the errors that all of them declare. */
const common: Record<(typeof partnerErrors)[number], Recipe> = {
  bad_request: (caller, operation) =>
    caller.send(operation.method, `${pathOf(operation)}?unknown=1`, operation.body ? { body: {} } : {}),
  malformed_json: (caller, operation) =>
    caller.send(operation.method, pathOf(operation), { bytes: '{"broken' }),
  duplicate_header: async (caller, operation) => {
    const known = Object.entries(await caller.credentials())
    const headers = [...known, ...known]
    return sendBytes(service, { method: operation.method, path: pathOf(operation), headers })
  },
  unauthorized: (caller, operation) =>
    caller.send(operation.method, pathOf(operation), { headers: { authorization: undefined } }),
  invalid_api_key: (caller, operation) =>
    caller.send(operation.method, pathOf(operation), { headers: { 'x-api-key': 'wrong' } }),
  insufficient_scope: async (_, operation) => {
    const others = operation.scope === 'users:read' ? 'users:write' : 'users:read'
    return (await openCaller(service, { scopes: [others] })).send(operation.method, pathOf(operation))
  },
}

const account = { userid: 'u1', ...ada, offername: 'starter' }
const asks = { userid: 'u1', ...adaAsks }
const prefill = (caller: Caller, key: string | undefined, body: object = { userid: 'u1' }, version = 'v2') =>
  caller.post('/user/prefill', body, { version, 'idempotency-key': key })
const create = (caller: Caller, body: object, key?: string) =>
  caller.post('/user/account/create', body, { 'idempotency-key': key })
const decline = (caller: Caller, name: string, key?: string) =>
  caller.post('/user/benefits/decline', { userid: 'u1', name }, { 'idempotency-key': key })
const erase = (caller: Caller) => caller.partner.client.eraseUser({ userid: 'u1' })

/** How each operation of the main job is brought to each further error that it declares. */
const recipes: Partial<Record<OperationId, Record<string, Recipe>>> = {
  prefillUser: {
    idempotency_key_missing: caller => prefill(caller, undefined),
    idempotency_key_invalid: caller => prefill(caller, 'a b'),
    unsupported_version: caller => prefill(caller, 'k', { userid: 'u1' }, 'v3'),
    user_exists: async caller => {
      await prefill(caller, 'k')
      return prefill(caller, 'k')
    },
    prefill_superseded: async caller => {
      await prefill(caller, 'k')
      await prefill(caller, 'k2')
      return prefill(caller, 'k')
    },
    idempotency_key_reused: async caller => {
      await prefill(caller, 'k')
      return prefill(caller, 'k', { userid: 'u2' })
    },
    user_erased: async caller => {
      await prefill(caller, 'k')
      await erase(caller)
      return prefill(caller, 'k')
    },
  },
  getBenefits: {
    partnername_not_allowed: caller => caller.post('/user/benefits', { ...asks, partnername: 'x' }),
    offername_unknown: async caller => {
      await prefill(caller, 'k')
      return caller.post('/user/benefits', { ...asks, offername: 'x' })
    },
    user_not_found: caller => caller.post('/user/benefits', asks),
  },
  createUser: {
    idempotency_key_invalid: caller => create(caller, account, 'a b'),
    idempotency_key_reused: async caller => {
      await create(caller, account, 'k')
      return create(caller, { ...account, firstname: 'Eve' }, 'k')
    },
    user_erased: async caller => {
      await create(caller, account, 'k')
      await erase(caller)
      return create(caller, account, 'k')
    },
    offername_required: caller => create(caller, { userid: 'u1', ...ada }),
    offername_unknown: caller => create(caller, { ...account, offername: 'x' }),
    user_exists: async caller => {
      await create(caller, account)
      return create(caller, account)
    },
    ineligible: caller => create(caller, { ...account, dob: '2024-01-01' }),
    slots_exceeded: caller => create(caller, { ...account, benefits: ['dental', 'vision', 'legal'] }),
    offer_not_available: async () => {
      await using other = await startTestService({
        catalogue: catalogueOf(
          [{ name: 'one' }],
          [{ offer: 'later', rank: 1, fixed: ['one'], availability: { from: '2999-01-01' } }],
        ),
      })
      return await create(await openCaller(other), { ...account, offername: 'later' })
    },
  },
  getUser: { user_not_found: caller => caller.post('/user/account/get', { userid: 'u1' }) },
  declineBenefit: {
    idempotency_key_invalid: caller => decline(caller, 'dental', 'a b'),
    idempotency_key_reused: async caller => {
      await create(caller, account)
      await decline(caller, 'dental', 'k')
      return decline(caller, 'vision', 'k')
    },
    user_erased: async caller => {
      await create(caller, account)
      await decline(caller, 'dental', 'k')
      await erase(caller)
      return decline(caller, 'dental', 'k')
    },
    user_not_found: caller => decline(caller, 'dental'),
    user_cancelled: async caller => {
      await create(caller, account)
      await caller.partner.client.cancelUser({ userid: 'u1', effective: 'immediate' })
      return decline(caller, 'dental')
    },
    benefit_in_force: async caller => {
      await create(caller, account)
      return decline(caller, 'accident')
    },
  },
}

const declaredBy = (operation: Operation): readonly string[] => operation.errors
const ofPartners = (Object.values(operations) as Operation[]).filter(({ caller }) => caller === 'partner')
const isCommon = (code: string): code is keyof typeof common => Object.hasOwn(common, code)

describe.each(ofPartners)('$id', operation => {
  // The body of a GET is not looked at.
  const codes = declaredBy(operation)
    .filter(isCommon)
    .filter(code => !(isRead(operation) && code === 'malformed_json'))
  test.each(codes)('%s', async code => {
    expect(await common[code](await openCaller(service), operation)).toMatchObject({ code })
  })
})

describe.each(Object.entries(recipes))('%s, of its own', (id, own) => {
  const operation: Operation = operations[id as OperationId]

  test('every further error it declares has its recipe here', () => {
    expect(Object.keys(own).sort()).toEqual(
      declaredBy(operation)
        .filter(code => !isCommon(code))
        .sort(),
    )
  })

  test.each(Object.entries(own))('%s', async (code, recipe) => {
    expect(await recipe(await openCaller(service), operation)).toMatchObject({ code })
  })
})

describe('errors that every operation can give', () => {
  test.each(ofPartners.filter(({ body }) => body !== undefined))(
    '$id: 413 body_too_large and 415 unsupported_media_type',
    async operation => {
      const caller = await openCaller(service)
      const big = { bytes: ' '.repeat(65_537) }
      const plain = { bytes: 'x', headers: { 'content-type': 'text/plain' } }
      expect(await caller.send(operation.method, pathOf(operation), big)).toMatchObject({ status: 413 })
      expect(await caller.send(operation.method, pathOf(operation), plain)).toMatchObject({ status: 415 })
    },
  )

  test('open operations: a wrong query is 400 and nothing else is asked for', async () => {
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      expect(await send(service, 'GET', `${path}?version=3`)).toMatchObject({ code: 'bad_request' })
    }
    for (const path of ['/healthz', '/readyz', '/.well-known/oauth-authorization-server']) {
      expect(await send(service, 'GET', path)).toMatchObject({ status: 200 })
    }
  })
})
