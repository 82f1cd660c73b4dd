import type { IncomingHttpHeaders } from 'node:http'
import canonicalize from 'canonicalize'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash } from '../vault/hash.ts'
import { uuidv4 } from '../vault/uuid.ts'

/** An Idempotency-Key that a command claims (contract §4). */
export type Claim = {
  readonly operation: string
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  /** Names this attempt, through all runs of its transaction. */
  readonly attemptId: string
  /** `prefill`: by the rows of its table; `keyed`: the first answer again; `erase`: the same, though nothing is kept. */
  readonly mode: 'prefill' | 'keyed' | 'erase'
}

/** What makes two requests the same (contract §4). */
export type SameRequest = {
  readonly operation: { readonly id: string; readonly method: string }
  readonly target: { readonly path: string; readonly query: string }
  readonly body: unknown
}

/** The Idempotency-Key of a request without the quotes around it; `undefined` when none is sent. Refuses a wrong one. */
export const idempotencyKeyOf = (headers: IncomingHttpHeaders): string | undefined => {
  const sent = headers['idempotency-key']
  if (sent === undefined) return undefined
  const text = String(sent)
  const key = /^"(.*)"$/s.exec(text)?.[1] ?? text
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new ServiceError('idempotency_key_invalid')
  return key
}

/**
 * Claims a key for a request. Only keyed hashes are kept: the key is usually a hash of personal data, and so is
 * the request's own. They hang on the partner's own key: a key is found by its hash alone, so the hash must be the
 * same before, while and after the operator rotates a root key or a pepper.
 */
export const claimOf = (
  key: string,
  request: SameRequest,
  context: { partner: Partner; mode: Claim['mode'] },
): Claim => {
  const { hashKey } = context.partner
  const { operation, target, body } = request
  return {
    operation: operation.id,
    keyHash: keyedHash(hashKey, 'idempotency_keys.key', key),
    requestHash: keyedHash(
      hashKey,
      'idempotency_keys.request',
      operation.method,
      target.path,
      target.query,
      body === undefined ? '' : (canonicalize(body) ?? ''),
    ),
    attemptId: uuidv4(),
    mode: context.mode,
  }
}
