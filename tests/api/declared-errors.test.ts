// @prism

import { describe, expect, test } from 'vitest'
import type { Client, Prefill } from '../../client/src/index.ts'
import { type Operation, type OperationId, operations, type partnerErrors } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { adaAsks, startTestService, type TestPartner } from '../rig.ts'
import { openCaller, send, sendBytes } from './raw.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(startTestService)

function pathOf(operation: Operation) {
  return operation.path.replace(/\{\w+\}/g, 'u1')
}
function isRead(operation: Operation) {
  return operation.method === 'GET'
}
/** Calls an operation by its name, with only the parameters of its path. */
function call(client: Client, operation: Operation, more: object = {}): Promise<unknown> {
  const named = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, 'u1'])
  return client[unchecked<keyof Client>(operation.id)](unchecked({ ...Object.fromEntries(named), ...more }))
}

/** Provoked for each operation by authentication.test.ts and tests/trust/isolation.test.ts. */
const ofCredentials = ['unauthorized', 'invalid_api_key', 'insufficient_scope'] as const

type Common = Exclude<(typeof partnerErrors)[number], (typeof ofCredentials)[number]>

/** How to provoke, for any partner operation, each of the other errors that all of them declare. */
const common: Record<Common, (operation: Operation) => Promise<{ code?: unknown }>> = {
  bad_request: async operation =>
    refusalOf(call((await service.newPartner()).client, operation, { unknown: 1 })),
  // Raw, because the client writes JSON, sends each header once, and always sends a token.
  malformed_json: async operation => {
    const caller = await openCaller(service)
    return caller.send(operation.method, pathOf(operation), { bytes: '{"broken' })
  },
  duplicate_header: async operation => {
    const known = Object.entries(await (await openCaller(service)).credentials())
    const headers = [...known, ...known]
    return sendBytes(service, { method: operation.method, path: pathOf(operation), headers })
  },
}

type Recipe = (partner: TestPartner) => Promise<unknown>
const asks = { userid: 'u1', ...adaAsks }
function prefill({ client }: TestPartner, idempotencyKey: string, sent: Prefill = { userid: 'u1' }) {
  return client.prefillUser(sent, { idempotencyKey })
}
function erase({ client }: TestPartner) {
  return client.eraseUser({ userid: 'u1' })
}

/** How to provoke each further error of the operations before an account; tests/life/refusals.test.ts has those of an account. */
const recipes: Partial<Record<OperationId, Record<string, Recipe>>> = {
  prefillUser: {
    user_exists: async partner => {
      await prefill(partner, 'k')
      return prefill(partner, 'k')
    },
    prefill_superseded: async partner => {
      await prefill(partner, 'k')
      await prefill(partner, 'k2')
      return prefill(partner, 'k')
    },
    idempotency_key_reused: async partner => {
      await prefill(partner, 'k')
      return prefill(partner, 'k', { userid: 'u2' })
    },
    user_erased: async partner => {
      await prefill(partner, 'k')
      await erase(partner)
      return prefill(partner, 'k')
    },
  },
  getBenefits: {
    partnername_not_allowed: ({ client }) => client.getBenefits({ ...asks, partnername: 'x' }),
    offername_unknown: async partner => {
      await prefill(partner, 'k')
      return partner.client.getBenefits({ ...asks, offername: 'x' })
    },
    user_not_found: ({ client }) => client.getBenefits(asks),
  },
}

/** The client prevents these; key-headers.test.ts sends them raw to each operation that declares them. */
const ruledOut = ['idempotency_key_missing', 'idempotency_key_invalid', 'unsupported_version']

function declaredBy(operation: Operation): readonly string[] {
  return operation.errors
}
const open = (Object.values(operations) as Operation[]).filter(({ caller }) => caller === 'open')
// What a bulk and its lines answer is in bulk.test.ts.
const ofPartners = (Object.values(operations) as Operation[]).filter(
  ({ caller, lines }) => caller === 'partner' && !lines,
)
function isCommon(code: string): code is keyof typeof common {
  return Object.hasOwn(common, code)
}

describe.each(ofPartners)('$id', operation => {
  // The body of a GET is ignored.
  const codes = declaredBy(operation)
    .filter(isCommon)
    .filter(code => !(isRead(operation) && code === 'malformed_json'))
  test.each(codes)('%s', async code => {
    expect(await common[code](operation)).toMatchObject({ code })
  })
})

describe.each(Object.entries(recipes))('%s, of its own', (id, own) => {
  const operation: Operation = operations[id as OperationId]

  test('every further error it declares has its recipe here', () => {
    expect(Object.keys(own).sort()).toEqual(
      declaredBy(operation)
        .filter(code => !isCommon(code) && ![...ofCredentials, ...ruledOut].includes(code))
        .sort(),
    )
  })

  test.each(Object.entries(own))('%s', async (code, recipe) => {
    expect(await refusalOf(recipe(await service.newPartner()))).toMatchObject({ code })
  })
})

describe('errors that every operation can give, sent raw', () => {
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

  test.each(open)('$id, which is open: a header twice is 400, and declared', async operation => {
    const headers = [
      ['authorization', 'x'],
      ['authorization', 'x'],
    ] as const
    const answer = await sendBytes(service, { method: operation.method, path: operation.path, headers })
    expect(answer).toMatchObject({ status: 400, code: 'duplicate_header' })
    expect(declaredBy(operation)).toContain('duplicate_header')
  })

  test('open operations: a wrong query is 400 and nothing else is asked for', async () => {
    for (const path of ['/openapi.json', '/openapi.yaml']) {
      expect(await send(service, 'GET', `${path}?version=3`)).toMatchObject({ code: 'bad_request' })
    }
    for (const path of ['/healthz', '/readyz', '/.well-known/oauth-authorization-server']) {
      expect(await send(service, 'GET', path)).toMatchObject({ status: 200 })
    }
  })
})
