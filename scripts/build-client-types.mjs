// Writes client/src/generated.ts and generated-routes.ts: the types and routes of every partner's operation, from the contract,
// so that nothing is written twice. Runs before `tsc -b`; client/src/drift.ts does not compile where what is written here differs.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { load } from './sources.mjs'

const root = new URL('..', import.meta.url)
const contract = await load(`export * from './contract/src/index.ts'`)
const ofPartners = Object.values(contract.operations).filter(({ caller }) => caller === 'partner')
// Those that take and answer lines have a method of their own: client/src/bulk.ts.
const partnerOperations = ofPartners.filter(({ lines }) => !lines)
const everywhere = new Set([...contract.commonErrors, ...contract.partnerErrors, ...contract.keyedErrors])

/** Declarations of named types, by name. */
const declared = new Map()
const methods = partnerOperations.map(methodOf)
const routes = partnerOperations.map(
  ({ id, method, path, scope, idempotency, body }) =>
    `  ${id}: { method: '${method}', path: '${path}', scope: '${scope}', idempotency: '${idempotency}', hasBody: ${body !== undefined} },`,
)
namedType(contract.CurrentOfferDetails)
namedType(contract.BulkAnswer)
namedType(contract.BulkCancel)

const head =
  '// Generated from the contract by scripts/build-client-types.mjs at each build: change the contract instead.'
keep(
  'generated.ts',
  `${head}
import type { CallOptions, NoFields, PrefillOptions } from './options.ts'

/** Every code of the service's error table; each has one status (contract §12). */
export type ErrorCode = ${union(Object.keys(contract.errors))}

/** Every code of the token endpoint, in the form of RFC 6749 §5.2 (contract §3). */
export type OAuthErrorCode = ${union(contract.oauthErrorCodes)}

/** The name of one scope (contract §3). */
export type Scope = ${union(contract.scopeNames)}

${[...declared.values()].join('\n\n')}

/**
 * The operations of the service, one method each. Every method rejects with a \`BenefitEnrolmentError\`.
 * Besides the codes that a method names, each can meet ${listOf([...contract.commonErrors, ...contract.partnerErrors])},
 * and the client's own \`network\`, \`timeout\` and \`protocol\`; each write also ${listOf(contract.keyedErrors)}.
 */
export type Client = {
${methods.join('\n')}
}
`,
)
keep(
  'generated-routes.ts',
  `${head}

/** Every operation that a partner calls. */
export const routes = {
${routes.join('\n')}
} as const
`,
)

/** Does not touch an unchanged file, because a new modification time would make the compiler start over. */
function keep(name, text) {
  const target = new URL(`client/src/${name}`, root)
  if (!existsSync(target) || readFileSync(target, 'utf8') !== text) writeFileSync(target, text)
}

/** One method of the client, with the contract's text about the operation. */
function methodOf(operation) {
  const { id, summary, description, section, idempotency, errors } = operation
  const refusals = errors.filter(code => !everywhere.has(code))
  const told = [
    `${summary} (${section}).`,
    ...(description ? [description] : []),
    ...(refusals.length > 0 ? [`Refusals: ${listOf(refusals)}.`] : []),
  ]
  const options = idempotency === 'prefill' ? 'PrefillOptions' : 'CallOptions'
  return `${comment(told.join(' '), '  ')}  ${id}(request: ${inputOf(operation)}, options?: ${options}): Promise<${typeOf(operation.reply)}>`
}

/** The input of a method: path and query parameters and the body, as one object. */
function inputOf({ id, params, query, body }) {
  const parts = [params, query, body].filter(Boolean)
  if (parts.length === 0) return 'NoFields'
  if (parts.length === 1 && parts[0] === body) return typeOf(body)
  const merged = {
    type: 'object',
    properties: Object.assign({}, ...parts.map(part => part.properties)),
    required: parts.flatMap(part => part.required ?? []),
  }
  if (parts.length === 1 && parts[0] === params) return typeOf(merged)
  return namedType({ ...merged, title: body?.title ?? id[0].toUpperCase() + id.slice(1) })
}

/** Declares the type of a titled schema once, and returns its name. */
function namedType(schema) {
  const { title, ...rest } = schema
  const known = declared.get(title)
  if (known === undefined) {
    declared.set(title, '')
    declared.set(title, `${comment(rest.description, '')}export type ${title} = ${typeOf(rest)}`)
  }
  return title
}

function typeOf(schema) {
  if (schema.title) return namedType(schema)
  if ('const' in schema) return literal(schema.const)
  if (schema.enum) return schema.enum.map(literal).join(' | ')
  const parts = schema.anyOf ?? schema.oneOf
  if (parts) return [...new Set(parts.map(typeOf))].join(' | ')
  if (schema.allOf) return schema.allOf.map(part => `(${typeOf(part)})`).join(' & ')
  if (Array.isArray(schema.type)) return schema.type.map(type => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === undefined) return 'unknown'
  if (schema.type === 'array') return `(${typeOf(schema.items)})[]`
  if (schema.type === 'object') return objectOf(schema)
  if (schema.type === 'integer') return 'number'
  if (['string', 'number', 'boolean', 'null'].includes(schema.type)) return schema.type
  throw new Error(`no type is known for ${JSON.stringify(schema)}`)
}

function objectOf({ properties = {}, required = [], additionalProperties }) {
  if (typeof additionalProperties === 'object') return `Record<string, ${typeOf(additionalProperties)}>`
  const members = Object.entries(properties).map(
    ([name, schema]) =>
      `${comment(schema.description ?? schema['x-rule'], '  ')}  ${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('\n')}\n}`
}

function literal(value) {
  return JSON.stringify(value)
}

function union(names) {
  return names.map(name => `\n  | '${name}'`).join('')
}

function listOf(codes) {
  return codes.map(code => `\`${code}\``).join(', ')
}

function comment(told, indent) {
  return told ? `${indent}/** ${told.replaceAll('*/', '* /')} */\n` : ''
}
