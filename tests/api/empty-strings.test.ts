// @prism

import { describe, expect, test } from 'vitest'
import { type Client, isBenefitEnrolmentError } from '../../client/src/index.ts'
import { type Operation, type OperationId, operations } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, adaAsks, startTestService } from '../rig.ts'
import { refusalOf } from './refusal.ts'
import { unchecked } from './unchecked.ts'

const service = forAllTests(startTestService)

type Schema = {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
}
function isText(schema: Schema): boolean {
  return (
    [schema.type ?? []].flat().includes('string') ||
    (schema.enum ?? []).some(value => typeof value === 'string') ||
    (schema.anyOf ?? schema.oneOf ?? []).some(isText)
  )
}

type Path = readonly (string | number)[]
/** The paths of optional texts in a request, at any depth; in a list the index is 0. */
function optionalTexts(schema: Schema, above: Path = []): Path[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const here = [...above, name]
    const isOptional = !schema.required?.includes(name)
    const inside = property.items
      ? optionalTexts(property.items, [...here, 0])
      : optionalTexts(property, here)
    return [...(isOptional && isText(property) ? [here] : []), ...inside]
  })
}

/** The request with `""` at the path, or with nothing there, whatever was there before. */
function withAt(request: unknown, path: Path, value?: ''): unknown {
  const [first = '', ...rest] = path
  if (typeof first === 'number') {
    const [item] = request as readonly unknown[]
    return [withAt(item, rest, value)]
  }
  const { [first]: there, ...others } = (request ?? {}) as Readonly<Record<string, unknown>>
  if (rest.length > 0) return { ...others, [first]: withAt(there, rest, value) }
  return value === undefined ? others : { ...others, [first]: value }
}

const userid = 'u1'
const consents = [{ name: 'identity', version: '2026-01' }]
const spouse = { relationship: 'spouse', firstname: 'Grace', lastname: 'King', dob: '1988-02-29' }
const address = { url: 'http://127.0.0.1:9/hook', username: 'hook', password: 'secret' }
function create(client: Client) {
  return client.createUser({ userid, ...ada, offername: 'starter', benefits: ['identity'] })
}
async function addWebhook(client: Client) {
  return { webhookid: (await client.createWebhook(address)).webhookid }
}

/** The preparation for a request of each operation, and the rest of that request. */
const requests: Partial<Record<OperationId, (client: Client) => Promise<object>>> = {
  prefillUser: async () => ({ userid }),
  getBenefits: async client => {
    await create(client)
    const { age, state, zipcode } = adaAsks
    return { userid, age, state, zipcode }
  },
  createUser: async () => ({
    ...{ userid, ...ada, offername: 'starter', benefits: ['identity'], consents },
    dependants: [spouse],
  }),
  setDependants: async client => {
    await create(client)
    return { userid, dependants: [spouse] }
  },
  updateUser: async client => {
    await create(client)
    return { userid }
  },
  enrolBenefit: async client => {
    await client.createUser({ userid, ...ada, offername: 'starter' })
    return { userid, name: 'identity', consents }
  },
  declineBenefit: async client => {
    await create(client)
    return { userid, name: 'identity' }
  },
  changeOffer: async client => {
    await create(client)
    return { userid, offername: 'plus' }
  },
  previewOfferChange: async client => {
    await create(client)
    return { userid, offername: 'plus' }
  },
  createLinkToken: async () => ({ userid }),
  exchangeResult: async client => ({ sessionid: (await client.createLinkToken({ userid })).sessionid }),
  createWebhook: async () => address,
  updateWebhook: addWebhook,
  replayWebhook: async client => ({
    ...(await addWebhook(client)),
    ids: ['019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00'],
  }),
}

const cases = (Object.values(operations) as Operation[])
  .filter(({ caller, lines }) => caller === 'partner' && !lines)
  .flatMap(({ id, body }) =>
    optionalTexts((body ?? {}) as Schema).map(path => [id as OperationId, path] as const),
  )

/** The result of a call, without the parts that differ between calls. */
async function endOf(call: Promise<unknown>): Promise<string> {
  const answer = await call.catch((reason: unknown) => {
    if (!isBenefitEnrolmentError(reason)) throw reason
    return { code: reason.code, errors: reason.errors }
  })
  return JSON.stringify(answer)
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '(id)')
    .replace(/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, '(instant)')
    .replace(/(enr_\w+|whsec_)[\w+/=]+/g, '(secret)')
    .replace(/"(next|previewid)":"[^"]*"/, '"$1":"(opaque)"')
}

test.each([
  ['/events?after=', 'after'],
  ['/events?userid=&eventname=user_erased', 'userid'],
  ['/openapi.json?version=', 'version'],
])('a query parameter that is given and empty is refused by name: %s', async (path, field) => {
  const partner = await service.newPartner()
  const answer = await service.conformance.fetch(service.baseUrl + path, {
    headers: { authorization: `Bearer ${await partner.token()}`, 'x-api-key': partner.apiKey },
  })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ errors: [{ field, code: 'empty' }] })
})

describe('"" in an optional string means not given', () => {
  test.each(cases)('%s %j', async (id, path) => {
    const answerTo = async (value?: '') => {
      const { client } = await service.newPartner()
      const request = await requests[id]?.(client)
      if (!request) throw new Error(`${id} has optional texts: say here how it is asked`)
      const call = client[unchecked<'prefillUser'>(id)]
      return endOf(call(unchecked(withAt(request, path, value))))
    }
    expect(await answerTo('')).toBe(await answerTo())
  })

  test('the walk finds texts at the top, inside objects, in lists and of enumerations', () => {
    const found = cases.map(([id, path]) => `${id} ${path.join('.')}`)
    expect(found).toEqual(
      expect.arrayContaining([
        'prefillUser address.city',
        'createUser consents.0.locale',
        'updateUser firstname',
        'createWebhook ordering',
        'updateWebhook url',
      ]),
    )
  })

  test('a new user name still needs its password', async () => {
    const { client } = await service.newPartner()
    const { webhookid } = await addWebhook(client)
    expect(
      await refusalOf(client.updateWebhook({ webhookid, username: 'other', password: '' })),
    ).toMatchObject({ status: 400, errors: [{ field: 'password', code: 'required' }] })
  })
})
