import { interfaceChanges } from './changes.ts'
import { requiredTimestamp, Timestamp } from './fields.ts'
import { keyErrors, openErrors, operation, partnerErrors } from './operation.ts'
import { described, parameters, shape, string } from './shape.ts'
import { Type } from './typebox.ts'

const Health = shape('Health', {
  status: described(Type.Literal('ok'), 'Always `ok`: a failure is a problem document'),
  version: Type.Optional(Type.String({ description: 'The version of the service; `/healthz` tells it.' })),
})

const shared = {
  method: 'GET',
  caller: 'open',
  idempotency: 'ignored',
  tag: 'System',
  section: 'contract §13',
  errors: openErrors,
} as const

/** Answers 200 as long as the process lives (contract §13). */
export const getHealth = operation({
  ...shared,
  id: 'getHealth',
  path: '/healthz',
  summary: 'Whether the process is alive',
  reply: Health,
  example: { reply: { status: 'ok', version: '1.0.0' } },
})

/** Answers 200 when requests can be served, else 503 (contract §13). */
export const getReadiness = operation({
  ...shared,
  id: 'getReadiness',
  path: '/readyz',
  summary: 'Whether requests can be served',
  reply: Health,
  example: { reply: { status: 'ok' } },
})

const VersionQuery = parameters({
  version: Type.Optional(Type.Enum(['1.0.1', '1.0.2'], { 'x-rule': 'must be 1.0.1 or 1.0.2' })),
  webhooks: Type.Optional(
    Type.Enum(['no'], {
      'x-rule': 'must be no',
      description: '`no`: without the section `webhooks`, on which some tools stumble',
    }),
  ),
})

/** The interface description as JSON (contract §13). */
export const getOpenapiJson = operation({
  ...shared,
  id: 'getOpenapiJson',
  path: '/openapi.json',
  summary: 'The interface description, OpenAPI 3.1',
  query: VersionQuery,
  reply: Type.Object(
    { openapi: string('The version of OpenAPI') },
    { title: 'OpenAPI', additionalProperties: true },
  ),
  example: { reply: { openapi: '3.1.0' } },
})

/** The interface description as YAML (contract §13). */
export const getOpenapiYaml = operation({
  ...shared,
  id: 'getOpenapiYaml',
  path: '/openapi.yaml',
  summary: 'The interface description, OpenAPI 3.1, as YAML',
  query: VersionQuery,
  reply: Type.String(),
  example: { reply: 'openapi: 3.1.0\n' },
})

/** The change log of the interface as JSON, the newest version first (contract §13). */
export const getChangelog = operation({
  ...shared,
  id: 'getChangelog',
  path: '/changelog.json',
  summary: 'The change log of the interface',
  description: 'Also as `/changelog` to read and `/changelog.atom` to subscribe to.',
  reply: shape('Changelog', {
    versions: described(
      Type.Array(
        shape('InterfaceVersion', {
          version: string('The version of the interface'),
          describedsince: Type.String({ format: 'date', description: 'YYYY-MM-DD' }),
          changes: described(Type.Array(Type.String()), 'What is different from the version before'),
        }),
      ),
      'The newest first',
    ),
  }),
  example: { reply: { versions: interfaceChanges.slice(-1) } },
})

/**
 * The instant in the examples of the clock. Documents that are served have a later one in its place, because a clock never goes
 * back and the example would soon be refused.
 */
export const exampleAdvance = '2026-12-31T17:00:00.000Z'

/** Moves the business dates of one partner forward; exists in a sandbox only (contract §13). */
export const advanceClock = operation({
  id: 'advanceClock',
  method: 'POST',
  path: '/sandbox/clock',
  caller: 'partner',
  scope: 'sandbox:control',
  idempotency: 'keyed',
  tag: 'Sandbox',
  section: 'contract §13',
  summary: "Move the partner's business clock forward; everything due on the way is applied, in order",
  body: shape('AdvanceClock', {
    advanceto: Type.String({
      ...requiredTimestamp,
      description: 'Not before the present clock, and at most 20 years ahead of real time',
    }),
  }),
  reply: shape('ClockAdvanced', { now: Timestamp }),
  errors: [...partnerErrors, ...keyErrors],
  example: {
    body: { advanceto: exampleAdvance },
    reply: { now: exampleAdvance },
  },
})
