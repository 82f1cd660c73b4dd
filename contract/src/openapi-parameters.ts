import type { Operation } from './operation.ts'

type Json = Record<string, unknown>

const visibleAscii = '^[!-~]+$'

const exampleKey = '7c2f4f0e-6b1d-4c8e-9d0a-3f1e5b7a9c21'

/** The form of an operation, with an example for each field: converters ignore `const`, and use examples instead. */
export function formSchema({ body, example }: Operation): Json {
  const schema = plain(body)
  const given = example.body as Json
  const properties = Object.entries(schema['properties'] as Record<string, Json>).map(([name, property]) => [
    name,
    { ...property, example: given[name] ?? exampleOf(name, property) },
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** An example value of a parameter. Throws for a parameter that has none. */
function exampleOf(name: string, { enum: values, examples }: Json): unknown {
  const [first] = (examples ?? values ?? []) as unknown[]
  const example = examples ? first : (parameterExamples[name] ?? first)
  if (example === undefined) throw new Error(`contract/src/openapi-parameters.ts has no example of ${name}`)
  return example
}

/** The parameters of an operation: in the path, in the query, and headers. Throws when one has no example. */
export function parametersOf(operation: Operation): Json[] {
  const fields = (schema: unknown, location: 'path' | 'query'): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, Json>
      required?: string[]
    }
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: location,
      required: location === 'path' || required.includes(name),
      description: property['description'],
      schema: plain(property),
      example: exampleOf(name, property),
    }))
  }
  const headers = Object.entries(operation.headers ?? {}).map(([name, header]) => ({
    name: name === 'idempotency-key' ? 'Idempotency-Key' : 'Version',
    in: 'header',
    required: false,
    description: header.description,
    schema: plain(header.schema),
    example: name === 'version' ? 'v2' : exampleKey,
  }))
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Makes the write idempotent for 24 h: the same request again gets the first answer again',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: visibleAscii },
    example: exampleKey,
  }
  return [
    ...fields(operation.params, 'path'),
    ...fields(operation.query, 'query'),
    ...headers,
    ...(operation.idempotency === 'keyed' ? [key] : []),
  ]
}

/** A schema as plain JSON; TypeBox keeps its own marks in properties that JSON does not show. */
function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}

/** An example of each parameter and form field whose schema does not list its values. */
const parameterExamples: Readonly<Record<string, string>> = {
  name: 'dental',
  userid: 'u-1001',
  webhookid: '019aa1b2-0c4e-7d3a-9b1f-2c5d7e8f9a0b',
  eventid: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00',
  sessionid: '019abc12-3456-7def-8123-456789abcdea',
  after: 'NzQyLjAxOWFhMWIyLTBkMTEtN2MwMC04YTNlLTViNmM3ZDhlOWYwMA',
  changedafter: '2026-11-20T15:04:05.123Z',
  eventname: 'offer_activiation_successful',
  version: '1.0.2',
  client_id: 'enr_ci_sandbox_019abc1234567def',
  client_secret: 'the-secret-that-was-shown-once',
  token_type_hint: 'access_token',
}
