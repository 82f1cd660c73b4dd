import type { ErrorCode } from './errors.ts'
import type { Scope } from './scopes.ts'
import type { Tag } from './tags.ts'
import type { Static, TSchema } from './typebox.ts'

/**
 * How an operation treats `Idempotency-Key` (contract §4). `prefill`: by the table there; `keyed`: a repeat gets the
 * first answer; `ignored`: the key has no effect.
 */
export type Idempotency = 'prefill' | 'keyed' | 'ignored'

/**
 * Who may call: `partner` needs a bearer token and an API key; `client` sends client credentials; `open` is for
 * anybody.
 */
export type Caller = 'partner' | 'client' | 'open'

/** One operation of the interface, declared once; routes, validation, types and OpenAPI follow from it. */
export type Operation = {
  readonly id: string
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Path below `{base_url}`; parameters as `{name}`. */
  readonly path: string
  readonly caller: Caller
  readonly scope?: Scope
  readonly idempotency: Idempotency
  readonly summary: string
  readonly description?: string
  readonly tag: Tag
  /** The section that promises it, for example `interface §4.1`. */
  readonly section: string
  readonly params?: TSchema
  readonly query?: TSchema
  readonly body?: TSchema
  /** Whether body and answer are NDJSON, in which `body` and `reply` describe one line. */
  readonly lines?: true
  /** Request headers other than the credentials, by lower-case name. */
  readonly headers?: Readonly<Record<string, { readonly schema: TSchema; readonly description: string }>>
  readonly reply: TSchema
  readonly errors: readonly ErrorCode[]
  readonly example: { readonly body?: unknown; readonly reply: unknown }
}

/** Declares an operation and keeps its literal type. */
export function operation<const T extends Operation>(declared: T): T {
  return declared
}

/** The JSON body that an operation takes; `undefined` when it takes none. */
export type BodyOf<T extends Operation> = T extends { body: infer S extends TSchema } ? Static<S> : undefined
/** The query parameters of an operation. */
export type QueryOf<T extends Operation> = T extends { query: infer S extends TSchema }
  ? Static<S>
  : undefined
/** The path parameters of an operation, percent-decoded. */
export type ParamsOf<T extends Operation> = T extends { params: infer S extends TSchema }
  ? Static<S>
  : undefined
/** The body of an operation's 200 answer. */
export type ReplyOf<T extends Operation> = Static<T['reply']>

/** Errors that every operation can return (contract §12). */
export const commonErrors = [
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'too_many_requests',
  'headers_too_large',
  'internal',
  'unavailable',
] as const satisfies readonly ErrorCode[]

/** Errors of every operation that anybody may call: a header sent twice is refused there, too. */
export const openErrors = ['bad_request', 'duplicate_header'] as const satisfies readonly ErrorCode[]

/** Errors of every operation that a partner calls with a bearer token. */
export const partnerErrors = [
  'bad_request',
  'malformed_json',
  'duplicate_header',
  'unauthorized',
  'invalid_api_key',
  'insufficient_scope',
] as const satisfies readonly ErrorCode[]

/** Errors of an `Idempotency-Key` itself, of every operation that honors one (contract §4, last paragraph). */
export const keyErrors = [
  'idempotency_key_invalid',
  'idempotency_key_reused',
] as const satisfies readonly ErrorCode[]

/** Errors of every write about one user that honors an `Idempotency-Key`: the user may have been erased since. */
export const keyedErrors = [...keyErrors, 'user_erased'] as const satisfies readonly ErrorCode[]
