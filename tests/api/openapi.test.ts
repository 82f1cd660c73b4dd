// Tools read the description, not the client, so it is fetched raw.
import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { eventNames, type NewWebhook, type Operation, operations } from '../../contract/src/index.ts'
import { forAllTests } from '../for-all-tests.ts'
import { startTestService } from '../rig.ts'
import { send } from './raw.ts'

type Content = Record<
  string,
  { schema: object; example?: unknown; examples?: Record<string, { value: unknown }> }
>
type Described = {
  operationId: string
  tags: string[]
  parameters: { name: string; in: string; schema: object; example?: unknown }[]
  security: object[]
  requestBody?: { content: Content }
  responses: Record<string, { content?: Content }>
}
type Description = {
  openapi: string
  info: { version: string }
  servers: { url: string }[]
  paths: Record<string, Record<string, Described>>
  webhooks: { event: { post: Described } }
  components: { securitySchemes: Record<string, object>; schemas: Record<string, { title?: string }> }
  tags: { name: string; description?: string }[]
}

let description: Description
async function read(query = ''): Promise<Description> {
  return (await send(service, 'GET', `/openapi.json${query}`)).body as Description
}
const service = forAllTests(startTestService)
beforeAll(async () => {
  description = await read()
})

function described(): Described[] {
  return Object.values(description.paths).flatMap(path => Object.values(path))
}
const declared = Object.values(operations) as Operation[]

test.each(['', '?version=1.0.1', '?version=1.0.2'])('/openapi.json%s is valid OpenAPI 3.1', async query => {
  const text = JSON.stringify(await read(query))
  expect(await new Validator().validate(JSON.parse(text))).toEqual({ valid: true })
  // Go and Rust refuse a description whose patterns look ahead.
  expect(text).not.toContain('(?')
})

test('the YAML says the same as the JSON', async () => {
  const answer = await send(service, 'GET', '/openapi.yaml')
  expect(answer.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
  expect(parse(answer.text)).toEqual(description)
})

test('without webhooks it lacks what only they use, and nothing else, in both forms', async () => {
  const { webhooks: _, ...whole } = structuredClone(description)
  whole.tags = whole.tags.filter(({ name }) => name !== 'Deliveries')
  delete whole.components.schemas['WebhookEvent']
  delete whole.components.securitySchemes['webhookbasic']
  expect(await read('?webhooks=no')).toEqual(whole)
  expect(parse((await send(service, 'GET', '/openapi.yaml?webhooks=no')).text)).toEqual(whole)
})

test('it names the base address, the versions of interface and service, and every operation of the contract', () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../service/package.json', import.meta.url), 'utf8'),
  ) as { version: string }
  expect(description).toMatchObject({
    openapi: '3.1.0',
    info: { version: '1.0.2', 'x-service-version': version },
    servers: [{ url: service.baseUrl }],
  })
  expect(new Set(described().map(({ operationId }) => operationId))).toEqual(
    new Set(declared.map(({ id }) => id)),
  )
})

test('each resource that the interface names is a schema by that name', () => {
  const names = [
    'Prefill',
    'Address',
    'BenefitsRequest',
    'BenefitWithStatus',
    'WebhookEvent',
    'CurrentOfferDetails',
  ]
  const others = ['User', 'CreateUser', 'UpdateUser', 'LinkToken', 'AccessToken', 'Offers', 'Problem', 'Swap']
  expect(Object.keys(description.components.schemas)).toEqual(expect.arrayContaining([...names, ...others]))
  for (const operation of described()) {
    for (const content of [operation.requestBody?.content ?? {}, operation.responses['200']?.content ?? {}]) {
      for (const [type, { schema }] of Object.entries(content)) {
        if (type === 'application/json' && !('const' in schema))
          expect({ id: operation.operationId, schema: Object.keys(schema) }).toEqual({
            id: operation.operationId,
            schema: ['$ref'],
          })
      }
    }
  }
})

test('answers and deliveries are open to fields of later versions, and no list of values has an empty one', () => {
  const answered = new Map<string, string>()
  const collect = (part: unknown) => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/#\/components\/schemas\/(\w+)/g)) {
      if (answered.has(name)) continue
      const schema = description.components.schemas[name]
      answered.set(name, JSON.stringify(schema))
      collect(schema)
    }
  }
  collect([description.webhooks, described().map(({ responses }) => responses)])
  expect(answered.size).toBeGreaterThan(30)
  const closed = [...answered].filter(([, text]) => text.includes('"additionalProperties":false'))
  expect(closed.map(([name]) => name)).toEqual([])
  expect(JSON.stringify(description)).not.toMatch(/"enum":\[[^\]]*""/)
})

test('each parameter and form field has an example that its schema takes, and each tag says what it is for', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  for (const { operationId, parameters, requestBody } of described()) {
    for (const { name, schema, example } of parameters) {
      const fits = ajv.validate({ ...(schema as object), components: description.components }, example)
      expect({ operationId, name, fits }).toEqual({ operationId, name, fits: true })
    }
    const form = requestBody?.content['application/x-www-form-urlencoded']?.schema as
      | { properties: Record<string, { example?: unknown }> }
      | undefined
    for (const [name, { example }] of Object.entries(form?.properties ?? {}))
      expect({ operationId, name, example }).toEqual({ operationId, name, example: expect.any(String) })
  }
  expect(description.tags.every(({ description }) => (description ?? '').length > 10)).toBe(true)
})

// OpenAPI Generator writes a file for each tag, those of webhooks last: a shared tag loses the operations.
test.each(['', '?version=1.0.1'])('the webhook has a tag of its own, %s', async query => {
  const { webhooks, tags, paths } = await read(query)
  const ofOperations = Object.values(paths).flatMap(path => Object.values(path).flatMap(({ tags }) => tags))
  const names = tags.map(({ name }) => name)
  expect(names.filter(name => !ofOperations.includes(name))).toEqual(webhooks.event.post.tags)
  expect(names).toEqual(expect.arrayContaining(ofOperations))
})

test('another version is 400', async () => {
  for (const query of ['?version=2', '?versoin=1.0.1', '?version=']) {
    expect(await send(service, 'GET', `/openapi.json${query}`)).toMatchObject({ status: 400 })
  }
})

describe('examples', () => {
  const ajv = () => new Ajv2020({ strict: false, validateFormats: false }).addSchema(description, 'interface')
  /** Every example in a content that can be checked, with its place. */
  const examplesOf = (content: Content): { type: string; values: unknown[] }[] =>
    Object.entries(content).map(([type, { example, examples }]) => ({
      type,
      values: example === undefined ? Object.values(examples ?? {}).map(({ value }) => value) : [example],
    }))

  test('every operation has one for every status it declares, and for every request body', () => {
    for (const operation of described()) {
      for (const [status, { content = {} }] of Object.entries(operation.responses)) {
        const found = examplesOf(content).map(({ values }) => values.length > 0)
        expect({ id: operation.operationId, status, found }).toEqual({
          id: operation.operationId,
          status,
          // Two forms where the token endpoint is not yet known: before the path is read.
          found: found.length === 2 ? [true, true] : [true],
        })
      }
      for (const { values } of examplesOf(operation.requestBody?.content ?? {})) {
        expect(values).toHaveLength(1)
      }
    }
  })

  test('each is valid by the schema beside it', () => {
    const validator = ajv()
    const wrong: string[] = []
    for (const [path, methods] of Object.entries(description.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const places: [string[], Content][] = Object.entries(operation.responses).map(
          ([status, { content }]) => [['responses', status], content ?? {}],
        )
        places.push([['requestBody'], operation.requestBody?.content ?? {}])
        for (const [place, content] of places) {
          for (const { type, values } of examplesOf(content)) {
            const pointer = ['paths', path, method, ...place, 'content', type, 'schema']
              .map(part => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
              .join('/')
            const validate = validator.getSchema(`interface#/${pointer}`)
            for (const value of values) {
              if (!validate?.(value)) wrong.push(`${pointer}: ${validator.errorsText(validate?.errors)}`)
            }
          }
        }
      }
    }
    expect(wrong).toEqual([])
  })
})

test('what the interface promises of statuses is declared: prefill and benefits have no 422', () => {
  const statuses = (path: string) => Object.keys(description.paths[path]?.['post']?.responses ?? {})
  const common = ['408', '413', '415', '429', '431', '500', '503']
  expect(statuses('/user/prefill').sort()).toEqual(['200', '400', '401', '403', '409', ...common].sort())
  expect(statuses('/user/benefits').sort()).toEqual(['200', '400', '401', '403', '404', ...common].sort())
})

test('the webhooks section has the exact body, the Idempotency-Key and every event name', () => {
  const { post } = description.webhooks.event
  expect(post.parameters).toMatchObject([{ name: 'Idempotency-Key', in: 'header', required: true }])
  const { schema, example } = post.requestBody?.content['application/json'] ?? {}
  expect(schema).toEqual({ $ref: '#/components/schemas/WebhookEvent' })
  expect(description.components.schemas['WebhookEvent']).toMatchObject({
    required: ['userid', 'eventname', 'currentofferdetails'],
    properties: { eventname: { type: 'string', examples: eventNames } },
  })
  expect(Object.keys(example as object)).toEqual(['userid', 'eventname', 'currentofferdetails'])
})

describe('version 1.0.1', () => {
  test('has neither the swap timestamps, nor the Idempotency-Key of the webhook, nor x-api-key', async () => {
    const older = await read('?version=1.0.1')
    expect(older.info.version).toBe('1.0.1')
    const text = JSON.stringify(older)
    expect(text).not.toContain('swapeffectiveattimestamp')
    expect(text).not.toContain('swapexpiresattimestamp')
    expect(older.webhooks.event.post.parameters).toEqual([])
    expect(older.components.securitySchemes).not.toHaveProperty('apikey')
    expect(text).not.toContain('x-api-key')
    expect(text).not.toContain('"apikey":')
  })

  test('is the same otherwise: paths, statuses, the isselectedforswap of a benefit', async () => {
    const older = await read('?version=1.0.1')
    expect(Object.keys(older.paths)).toEqual(Object.keys(description.paths))
    expect(JSON.stringify(older)).toContain('isselectedforswap')
    const statusesOf = (from: Description) =>
      Object.values(from.paths).flatMap(path =>
        Object.values(path).map(({ operationId, responses }) => [operationId, Object.keys(responses)]),
      )
    expect(statusesOf(older)).toEqual(statusesOf(description))
  })
})

test('a live service has no clock to move, and does not describe one', async () => {
  await using live = await startTestService({ sandbox: false })
  const { body } = await send(live, 'GET', '/openapi.json')
  expect((body as Description).paths).not.toHaveProperty('/sandbox/clock')
  expect((await fetch(`${live.baseUrl}/sandbox/clock`, { method: 'POST' })).status).toBe(404)
})

test('which fields of a request need or exclude each other the description says as the service does', async () => {
  const { client } = await service.newPartner()
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(description, 'interface')
  const described = (name: string) =>
    ajv.getSchema(`interface#/components/schemas/${name}`) ?? (() => undefined)
  const isRefused = async (request: Promise<unknown>) =>
    request.then(
      () => false,
      (error: { status?: number }) => error.status === 400,
    )
  const basic = { url: 'https://hooks.example.com', username: 'u', password: 'p' }
  const { webhookid } = await client.createWebhook(basic)
  const range = { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z' }
  const isReplay = described('ReplayWebhook')
  for (const body of someOf({ ...range, status: 'dead' as const, ids: [webhookid], dryrun: true })) {
    const refused = await isRefused(client.replayWebhook({ webhookid, ...body }))
    expect([body, isReplay(body)]).toEqual([body, !refused])
  }
  const isResult = described('ResultRequest')
  for (const body of someOf({ resulttoken: 'r', sessionid: 's' }))
    expect([body, isResult(body)]).toEqual([body, !(await isRefused(client.exchangeResult(body)))])
  // Of credentials authorization.test.ts knows every choice.
  const isWebhook = described('NewWebhook')
  const wrong: NewWebhook[] = [
    { ...basic, clientcertificate: 'c' },
    { ...basic, clientkey: 'k' },
    { ...basic, events: ['all', 'user_erased'] },
  ]
  for (const body of wrong)
    expect([isWebhook(body), await isRefused(client.createWebhook(body))]).toEqual([false, true])
})

/** Every body that has some of these fields. */
function someOf<Body extends object>(whole: Body): Partial<Body>[] {
  return Object.entries(whole).reduce<Partial<Body>[]>(
    (bodies, [name, value]) => bodies.flatMap(body => [body, { ...body, [name]: value }]),
    [{}],
  )
}
