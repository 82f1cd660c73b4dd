import type { InterfaceVersion } from './changes.ts'
import { events } from './event-names.ts'
import { exampleEvent, WebhookEvent } from './events.ts'
import { describeLimits, type LoadLimits, type RequestLimits } from './limits.ts'
import { collectSchemas, type NamedSchemas } from './named-schemas.ts'
import { answerHeaders, describeErrors } from './openapi-errors.ts'
import { asked, forGenerators, given } from './openapi-forms.ts'
import { formSchema, parametersOf } from './openapi-parameters.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
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
  /** Closes the shapes of answers, for tests: what is published leaves them open to fields of later versions. */
  readonly closed?: boolean
}

/** A schema of an answer, open unless tests ask for a closed one. */
function answerOf(schema: unknown, { closed = false }: { readonly closed?: boolean | undefined }): unknown {
  return closed ? schema : given(schema)
}

/**
 * The OpenAPI 3.1 description made from the declarations (contract §13).
 * Version 1.0.1 has neither the swap timestamps, nor the webhook's Idempotency-Key, nor x-api-key.
 */
export function describeInterface(options: DescribedService): Json {
  const schemas = collectSchemas()
  schemas.refer(answerOf(Problem, options))
  schemas.refer(answerOf(OAuthError, options))
  const paths: Record<string, Json> = {}
  for (const operation of Object.values(operations) as Operation[]) {
    if (operation.scope === 'sandbox:control' && !options.sandbox) continue
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, { ...options, schemas }),
    }
  }
  const described = {
    openapi: '3.1.0',
    info: describeInfo(options),
    servers: [{ url: options.baseUrl }],
    externalDocs: { description: 'Guides, errors and samples', url: `${options.baseUrl}/docs` },
    tags: tagsOf(options.sandbox),
    paths,
    webhooks: { event: { post: describeWebhook(options, schemas) } },
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of POST /oauth2/token' },
        ...(options.version === '1.0.2' && { apikey: { type: 'apiKey', in: 'header', name: 'x-api-key' } }),
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
  const description = forGenerators(described)
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
  options: DescribedService & { schemas: NamedSchemas },
): Json {
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    description: [operation.description, sourceOf(operation, options.baseUrl)].filter(Boolean).join('\n\n'),
    security: securityOf(operation, options.version),
    parameters: parametersOf(operation).map(one => ({
      ...one,
      schema: options.schemas.refer(one['schema']),
    })),
    requestBody: operation.body && {
      required: true,
      content: operation.lines
        ? describeLines(asked(operation.body), operation.example.body, options.schemas)
        : {
            [operation.caller === 'client' ? 'application/x-www-form-urlencoded' : 'application/json']: {
              schema:
                operation.caller === 'client'
                  ? formSchema(operation)
                  : options.schemas.refer(asked(operation.body)),
              example: operation.example.body,
            },
          },
    },
    responses: { 200: describeReply(operation, options), ...describeErrors(operation, options) },
  }
}

/**
 * The group of the webhook. It has no operation of a partner, because OpenAPI Generator writes one file for each group,
 * and that of a webhook replaces that of operations.
 */
const deliveries = { name: 'Deliveries', description: 'What the service sends to your addresses.' }

/** The groups that have an operation in this description, with the purpose of each. */
function tagsOf(isSandbox: boolean): Json[] {
  const ofOperations = Object.entries(tags)
    .filter(([name]) => isSandbox || name !== ('Sandbox' satisfies Tag))
    .map(([name, description]) => ({ name, description }))
  return [...ofOperations, deliveries]
}

/** The address at which a partner can read the promise: `contract §4` is a section of a page of the docs. */
function sourceOf({ section }: Operation, baseUrl: string): string {
  const [, document = '', number = ''] = /^(contract|interface) §(\d+(?:\.\d+)?)/.exec(section) ?? []
  return `Promised in [${section}](${baseUrl}/docs/${document}#section-${number}).`
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

function describeReply(operation: Operation, options: DescribedService & { schemas: NamedSchemas }): Json {
  return {
    description: 'Done',
    headers: answerHeaders,
    content: operation.lines
      ? describeLines(answerOf(operation.reply, options), operation.example.reply, options.schemas)
      : {
          [operation.path.endsWith('.yaml') ? 'application/yaml' : 'application/json']: {
            // A tool parses YAML before it compares the answer, and would not find the string that the service sends.
            schema: operation.path.endsWith('.yaml')
              ? {}
              : options.schemas.refer(answerOf(operation.reply, options)),
            example: operation.example.reply,
          },
        },
  }
}

/** NDJSON is text to OpenAPI 3.1: `contentSchema` is the schema of each line. */
function describeLines(line: unknown, example: unknown, schemas: NamedSchemas): Json {
  return {
    'application/x-ndjson': {
      schema: {
        type: 'string',
        description: 'A JSON object on each line',
        contentMediaType: 'application/x-ndjson',
        contentSchema: schemas.refer(line),
      },
      example: `${JSON.stringify(example)}\n`,
    },
  }
}

function describeWebhook(options: DescribedService, schemas: NamedSchemas): Json {
  return {
    operationId: 'receiveEvent',
    tags: [deliveries.name],
    summary: 'Sent to the address that the partner provides, for every event it wants',
    description: Object.entries(events)
      .map(([name, when]) => `- \`${name}\`: ${when}`)
      .join('\n'),
    security: [{ webhookbasic: [] }],
    parameters:
      options.version === '1.0.1'
        ? []
        : [
            {
              name: 'Idempotency-Key',
              in: 'header',
              required: true,
              description:
                'The `eventid` of the event, a UUID: the same on every attempt, every replay and at every endpoint',
              schema: { type: 'string', format: 'uuid' },
              example: '019aa1b2-0d11-7c00-8a3e-5b6c7d8e9f00',
            },
          ],
    requestBody: {
      required: true,
      content: {
        'application/json': { schema: schemas.refer(answerOf(WebhookEvent, options)), example: exampleEvent },
      },
    },
    responses: {
      200: {
        description: 'Received; any 2xx within 15 s counts',
        content: { 'application/json': { schema: { type: 'string' }, example: 'received' } },
      },
      default: { description: 'Anything else: the delivery is attempted again' },
    },
  }
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
