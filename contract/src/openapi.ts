import type { InterfaceVersion } from './changes.ts'
import { type ErrorCode, type ErrorEntry, errors, userMessage } from './errors.ts'
import { events } from './event-names.ts'
import { exampleEvent, WebhookEvent } from './events.ts'
import { describeLimits, type LoadLimits, type RequestLimits } from './limits.ts'
import { collectSchemas, type NamedSchemas } from './named-schemas.ts'
import { type OAuthErrorCode, oauthErrorCodes, oauthErrors } from './oauth-errors.ts'
import { commonErrors, type Operation } from './operation.ts'
import { operations } from './operations.ts'
import { parameterExamples } from './parameter-examples.ts'
import { OAuthError, Problem } from './problem.ts'
import { scopes, scopesOf } from './scopes.ts'
import { type Tag, tags } from './tags.ts'

type Json = Record<string, unknown>

/** The service for which a description is made. */
export type DescribedService = {
  readonly baseUrl: string
  readonly version: InterfaceVersion
  readonly sandbox: boolean
  /** Absent: the description gives no numbers. */
  readonly limits?: LoadLimits & RequestLimits
}

/**
 * The OpenAPI 3.1 description made from the declarations (contract §13).
 * Version 1.0.1 has neither the swap timestamps, nor the webhook's Idempotency-Key, nor x-api-key.
 */
export function describeInterface(options: DescribedService): Json {
  const schemas = collectSchemas()
  schemas.refer(Problem)
  schemas.refer(OAuthError)
  const paths: Record<string, Json> = {}
  for (const operation of Object.values(operations) as Operation[]) {
    if (operation.scope === 'sandbox:control' && !options.sandbox) continue
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, { ...options, schemas }),
    }
  }
  const description = {
    openapi: '3.1.0',
    info: describeInfo(options),
    servers: [{ url: options.baseUrl }],
    externalDocs: { description: 'Guides, errors and samples', url: `${options.baseUrl}/docs` },
    tags: tagsOf(options.sandbox),
    paths,
    webhooks: { event: { post: describeWebhook(options.version, schemas) } },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of POST /oauth2/token' },
        ...(options.version === '1.0.2'
          ? { apikey: { type: 'apiKey', in: 'header', name: 'x-api-key' } }
          : {}),
        client: {
          type: 'oauth2',
          flows: {
            clientCredentials: {
              tokenUrl: `${options.baseUrl}/oauth2/token`,
              scopes: Object.fromEntries(scopesOf(options.sandbox).map(name => [name, scopes[name]])),
            },
          },
        },
        clientbasic: { type: 'http', scheme: 'basic', description: 'Client id and secret' },
        webhookbasic: {
          type: 'http',
          scheme: 'basic',
          description: 'User name and password of the endpoint',
        },
      },
      schemas: schemas.all(),
    },
  }
  return options.version === '1.0.1' ? (withoutSwapTimestamps(description) as Json) : description
}

/** The member `info` of a description, the only one that depends on the service's limits. */
export function describeInfo({
  baseUrl,
  version,
  limits,
}: Pick<DescribedService, 'baseUrl' | 'version' | 'limits'>): Json {
  return {
    title: 'Benefit Enrolment Integration Service',
    version,
    description: [
      'Prefill a user, list the benefits with status, enrol, and hear of every change by a webhook.',
      ...describeLimits(limits),
    ].join('\n\n'),
    contact: { name: 'The operator of this service', url: `${baseUrl}/docs` },
    license: { name: 'MIT', identifier: 'MIT' },
  }
}

function describeOperation(
  operation: Operation,
  options: { baseUrl: string; version: InterfaceVersion; schemas: NamedSchemas },
): Json {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, sourceOf(operation, options.baseUrl)].filter(Boolean).join('\n\n'),
    security: securityOf(operation, options.version),
    parameters: parametersOf(operation),
    ...(operation.body
      ? {
          requestBody: {
            required: true,
            content: {
              [operation.caller === 'client' ? 'application/x-www-form-urlencoded' : 'application/json']: {
                schema:
                  operation.caller === 'client'
                    ? formSchema(operation)
                    : options.schemas.refer(operation.body),
                ...(operation.example.body === undefined ? {} : { example: operation.example.body }),
              },
            },
          },
        }
      : {}),
    responses: { 200: describeReply(operation, options.schemas), ...describeErrors(operation, options) },
  }
}

/** The groups that have an operation in this description, with the purpose of each. */
function tagsOf(isSandbox: boolean): Json[] {
  return Object.entries(tags)
    .filter(([name]) => isSandbox || name !== ('Sandbox' satisfies Tag))
    .map(([name, description]) => ({ name, description }))
}

/** The address at which a partner can read the promise: `contract §4` is a section of a page of the docs. */
function sourceOf({ section }: Operation, baseUrl: string): string {
  const [, document = '', number = ''] = /^(contract|interface) §(\d+(?:\.\d+)?)/.exec(section) ?? []
  return `Promised in [${section}](${baseUrl}/docs/${document}#section-${number}).`
}

const visibleAscii = '^[!-~]+$'
const exampleKey = '7c2f4f0e-6b1d-4c8e-9d0a-3f1e5b7a9c21'

/** Converters ignore `const` and use an example for each form field. */
function formSchema({ body, example }: Operation): Json {
  const schema = plain(body)
  const given = example.body as Json
  const properties = Object.entries(schema['properties'] as Record<string, Json>).map(([name, property]) => [
    name,
    { ...property, example: given[name] ?? exampleOf(name, property) },
  ])
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** An example value of a parameter. Throws for a parameter that has none. */
function exampleOf(name: string, { enum: values }: Json): unknown {
  const example = parameterExamples[name] ?? (values as unknown[] | undefined)?.[0]
  if (example === undefined) throw new Error(`contract/src/parameter-examples.ts has no example of ${name}`)
  return example
}

function securityOf(operation: Operation, version: InterfaceVersion): Json[] {
  if (operation.caller === 'open') return []
  if (operation.caller === 'client') return [{ clientbasic: [] }, {}]
  const apikey = version === '1.0.2' ? { apikey: [] } : {}
  return [
    { bearer: [], ...apikey },
    { client: operation.scope ? [operation.scope] : [], ...apikey },
  ]
}

function parametersOf(operation: Operation): Json[] {
  const fields = (schema: unknown, location: 'path' | 'query'): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, Json>
      required?: string[]
    }
    return Object.entries(properties).map(([name, property]) => ({
      name,
      in: location,
      required: location === 'path' || required.includes(name),
      ...(typeof property['description'] === 'string' ? { description: property['description'] } : {}),
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

const answerHeaders = {
  'Request-Id': { description: 'Names this request in our logs', schema: { type: 'string', format: 'uuid' } },
}

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait', schema: { type: 'string', pattern: '^[0-9]+$' } },
}

function describeReply(operation: Operation, schemas: NamedSchemas): Json {
  return {
    description: 'Done',
    headers: answerHeaders,
    content: {
      [operation.path.endsWith('.yaml') ? 'application/yaml' : 'application/json']: {
        // A tool parses YAML before it compares the answer, and would not find the string that the service sends.
        schema: operation.path.endsWith('.yaml') ? {} : schemas.refer(operation.reply),
        example: operation.example.reply,
      },
    },
  }
}

function describeErrors(
  operation: Operation,
  { baseUrl, version }: { baseUrl: string; version: InterfaceVersion },
): Json {
  const isClient = operation.caller === 'client'
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of [...operation.errors, ...commonErrors]) {
    // The token endpoint reports a wrong media type in its own form.
    if (isClient && code === 'unsupported_media_type') continue
    if (version === '1.0.1' && code === 'invalid_api_key') continue
    const { status } = errors[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const described = Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map(code => `${code}: ${errors[code].title}`).join('; '),
        headers: status === 429 || status === 503 ? { ...answerHeaders, ...retryAfter } : answerHeaders,
        content: {
          ...(isClient ? oauthContent(codes) : {}),
          ...(isClient && !codes.some(isBeforePath) ? {} : problemContent(codes, baseUrl)),
        },
      },
    ]),
  )
  return isClient ? { ...describeOAuthErrors(), ...described } : described
}

/** A request that is refused before its path is known gets a problem document, at the token endpoint too. */
function isBeforePath(code: ErrorCode): boolean {
  return code === 'request_timeout' || code === 'headers_too_large'
}

function problemContent(codes: readonly ErrorCode[], baseUrl: string): Json {
  return {
    'application/problem+json': {
      schema: { $ref: '#/components/schemas/Problem' },
      examples: Object.fromEntries(codes.map(code => [code, { value: exampleProblem(code, baseUrl) }])),
    },
  }
}

function oauthContent(codes: readonly (ErrorCode | OAuthErrorCode)[]): Json {
  return {
    'application/json': {
      schema: { $ref: '#/components/schemas/OAuthError' },
      examples: Object.fromEntries(codes.map(code => [code, { value: { error: code } }])),
    },
  }
}

function describeOAuthErrors(): Json {
  return Object.fromEntries(
    [400, 401].map(status => {
      const codes = oauthErrorCodes.filter(code => oauthErrors[code] === status)
      return [status, { description: codes.join('; '), headers: answerHeaders, content: oauthContent(codes) }]
    }),
  )
}

/** A realistic problem of one code, for examples. */
export function exampleProblem(code: ErrorCode, baseUrl: string): Problem {
  const entry: ErrorEntry = errors[code]
  const requestid = '019abc12-3456-7def-8123-456789abcded'
  return {
    type: `${baseUrl}/docs/errors/${code}`,
    title: entry.title,
    status: entry.status,
    detail: entry.remedy,
    instance: `urn:uuid:${requestid}`,
    code,
    requestid,
    errors:
      code === 'bad_request'
        ? [{ field: 'zipcode', code: 'pattern', message: 'zipcode must be 5 or 9 digits, like 33101' }]
        : [],
    usermessage: userMessage(code, 'en'),
  }
}

function describeWebhook(version: InterfaceVersion, schemas: NamedSchemas): Json {
  return {
    operationId: 'receiveEvent',
    tags: ['Events'],
    summary: 'Sent to the address that the partner provides, for every event it wants',
    description: Object.entries(events)
      .map(([name, when]) => `- \`${name}\`: ${when}`)
      .join('\n'),
    security: [{ webhookbasic: [] }],
    parameters:
      version === '1.0.1'
        ? []
        : [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: true,
              description:
                'The `eventid` of the event, a UUID: the same on every try, every replay and at every endpoint',
              schema: { type: 'string', format: 'uuid' },
              example: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00',
            },
          ],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.refer(WebhookEvent), example: exampleEvent } },
    },
    responses: {
      200: {
        description: 'Received; any 2xx within 15 s counts',
        content: { 'application/json': { schema: { type: 'string' }, example: 'received' } },
      },
      default: { description: 'Anything else: the delivery is tried again' },
    },
  }
}

/** A schema as plain JSON; TypeBox keeps its own marks in properties that JSON does not show. */
function plain(schema: unknown): Json {
  return JSON.parse(JSON.stringify(schema)) as Json
}

function withoutSwapTimestamps(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value
      .filter(item => item !== 'swapeffectiveattimestamp' && item !== 'swapexpiresattimestamp')
      .map(withoutSwapTimestamps)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => name !== 'swapeffectiveattimestamp' && name !== 'swapexpiresattimestamp')
      .map(([name, item]) => [name, withoutSwapTimestamps(item)]),
  )
}
