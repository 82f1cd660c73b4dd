import { Ajv2020 } from 'ajv/dist/2020.js'
import { describeInterface, errors, isErrorCode, operations } from '../contract/src/index.ts'
import { foundByPrism } from './prism.ts'

/** One request and its answer, as they were sent. */
export type Exchange = {
  readonly method: string
  /** Below the stage path, with or without a query. */
  readonly path: string
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Compares every answer of a service with the description that its partners read. */
export type Conformance = {
  /** The answers that differ from the description. */
  readonly violations: readonly string[]
  check(exchange: Exchange): void
  /** A fetch that checks what it fetches. */
  readonly fetch: typeof globalThis.fetch
}

type Described = { content?: Record<string, { examples?: Record<string, unknown> }> }
const description = describeInterface({
  baseUrl: 'http://localhost',
  version: '1.0.2',
  sandbox: true,
  closed: true,
})
const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(description, 'interface')
const paths = description['paths'] as Record<string, Record<string, { responses: Record<string, Described> }>>
const routes = Object.values(operations).map(({ id, method, path }) => ({
  id,
  method: method as string,
  path: path as string,
  pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
}))

/** Opens the check for a service under a stage path. */
export function openConformance(basePath: string): Conformance {
  const violations: string[] = []
  const check: Conformance['check'] = exchange => {
    for (const violation of judge(exchange)) {
      violations.push(`${exchange.method} ${exchange.path} answered ${exchange.status}: ${violation}`)
    }
  }
  return {
    violations,
    check,
    async fetch(input, init) {
      const response = await fetch(input, init)
      const { pathname, search } = new URL(String(input))
      const path = pathname.slice(basePath.length) + search
      const { status, headers } = response
      const text = await response.text()
      check({ method: init?.method ?? 'GET', path, status, headers, text })
      // Made again from the text that was read: reading a copy as well would cost more.
      return new Response(text === '' ? null : text, response)
    },
  }
}

const textTypes: ReadonlySet<string> = new Set(['application/yaml', 'application/x-ndjson'])

function judge(exchange: Exchange): string[] {
  const { method, status, headers, text } = exchange
  const found: string[] = foundByPrism(exchange)
  if (!/^[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/.test(headers.get('request-id') ?? ''))
    found.push('no Request-Id')
  const type = headers.get('content-type')?.split(';')[0] ?? ''
  if (type === 'application/problem+json') found.push(...judgeProblem(exchange))
  const path = exchange.path.split('?')[0] ?? ''
  const route = routes.find(known => known.method === method && known.pattern.test(path))
  if (!route) {
    if (status >= 400 && ![404, 405, 400].includes(status)) found.push('a status outside every operation')
    return found
  }
  const declared = paths[route.path]?.[method.toLowerCase()]?.responses[status]
  const content = declared?.content?.[type]
  if (!content) return [...found, `${route.id} declares no ${type} for this status`]
  const value = textTypes.has(type) ? text : (JSON.parse(text) as unknown)
  const pointer = ['paths', route.path, method.toLowerCase(), 'responses', status, 'content', type, 'schema']
  const valid = ajv.getSchema(`interface#/${pointer.map(escapePointer).join('/')}`)
  if (!valid?.(value)) found.push(`not as declared: ${ajv.errorsText(valid?.errors)}`)
  const { code, error } = value as { code?: string; error?: string }
  if (status >= 400 && !Object.hasOwn(content.examples ?? {}, code ?? error ?? ''))
    found.push(`${route.id} does not declare ${code ?? error}`)
  return found
}

function escapePointer(part: string | number): string {
  return encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))
}

function judgeProblem({ status, headers, text }: Exchange): string[] {
  const problem = JSON.parse(text) as Record<string, unknown>
  const code = String(problem['code'])
  const found: string[] = []
  if (!isErrorCode(code)) return [`the code ${code} is not in the table`]
  const requestId = headers.get('request-id')
  if (errors[code].status !== status || problem['status'] !== status) found.push(`${code} has another status`)
  if (problem['requestid'] !== requestId || problem['instance'] !== `urn:uuid:${requestId}`)
    found.push('another request id in the problem')
  if (!String(problem['type']).endsWith(`/docs/errors/${code}`)) found.push('type is of another code')
  if (!problem['usermessage']) found.push('no usermessage')
  return found
}
