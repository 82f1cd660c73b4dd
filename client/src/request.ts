import { errorOf } from './error-classes.ts'
import type { CallOptions } from './options.ts'
import { type OperationName, routeOf } from './routes.ts'

/** A request as every attempt of one call sends it; only the token is added. */
export type PreparedRequest = {
  readonly method: string
  /** Path and query, below the base URL. */
  readonly path: string
  readonly headers: Headers
  readonly body: string | undefined
  /** Whether it may be sent twice: it is a read, or carries a key. */
  readonly isRepeatable: boolean
}

/**
 * Makes the request of an operation: path parameters are taken from `input`; the rest becomes the JSON body of an operation that
 * takes one, else the query. Throws `bad_request` for a path parameter that no path can hold, and
 * `idempotency_key_invalid` for an invalid key; messages never contain the values.
 */
export function prepareRequest(
  operation: OperationName,
  input: object,
  options: CallOptions & { version?: 'v1' | 'v2' },
): PreparedRequest {
  const route = routeOf(operation)
  const fields = new Map<string, unknown>(Object.entries(input))
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = fields.get(name)
    fields.delete(name)
    return pathSegment(operation, name, value)
  })
  const headers = new Headers({ accept: 'application/json, application/problem+json' })
  if (route.hasBody) headers.set('content-type', 'application/json')
  if (options.acceptLanguage !== undefined) headers.set('accept-language', options.acceptLanguage)

  const version = route.idempotency === 'prefill' ? (options.version ?? 'v2') : undefined
  if (version !== undefined) headers.set('version', version)
  const isKeyed = route.idempotency !== 'ignored' && version !== 'v1'
  if (isKeyed) headers.set('idempotency-key', idempotencyKey(operation, options.idempotencyKey))

  return {
    method: route.method,
    path: route.hasBody ? path : path + queryOf(fields),
    headers,
    body: route.hasBody ? JSON.stringify(Object.fromEntries(fields)) : undefined,
    isRepeatable: isKeyed || route.idempotency === 'ignored',
  }
}

function pathSegment(operation: string, name: string, value: unknown): string {
  // A dot segment would vanish from the URL, and the request would reach another operation.
  if (typeof value === 'string' && !['', '.', '..'].includes(value) && !/\p{Surrogate}/u.test(value)) {
    return encodeURIComponent(value)
  }
  const problem = { field: name, code: 'format', message: `${name} must be text, and not ".", ".." or empty` }
  throw errorOf({
    operation,
    code: 'bad_request',
    detail: 'Nothing was sent. Correct the fields named in errors.',
    errors: [problem],
  })
}

function queryOf(fields: Map<string, unknown>): string {
  const given = [...fields].filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ''
    : `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)]))}`
}

function idempotencyKey(operation: string, given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID()
  if (/^[\x21-\x7e]{1,255}$/.test(given)) return given
  throw errorOf({
    operation,
    code: 'idempotency_key_invalid',
    detail: 'Nothing was sent. Give 1 to 255 visible ASCII characters as the key.',
  })
}
