import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash } from '../vault/hash.ts'

/** An Idempotency-Key that a write reserves (contract §4). */
export type KeyReservation = {
  readonly operation: string
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  /** Names this request in every run of its transaction, so that a later run recognizes the reservation as its own. */
  readonly attemptId: string
  /**
   * How a repeat is answered: `prefill` with `user_exists` or `prefill_superseded`, `keyed` with the stored first
   * answer, `erase` with an answer made from the erased user, since nothing else is kept.
   */
  readonly mode: 'prefill' | 'keyed' | 'erase'
}

/** The parts of a request that a repeat must have in common with it (contract §4). */
export type SameRequest = {
  readonly operation: { readonly id: string; readonly method: string }
  readonly target: () => { readonly path: string; readonly query: string }
  readonly sent: unknown
}

/**
 * The Idempotency-Key of a request, without quotes around it; `undefined` when none is sent. Throws
 * `idempotency_key_invalid` for a malformed one.
 */
export function idempotencyKeyOf(headers: IncomingHttpHeaders): string | undefined {
  const sent = headers['idempotency-key']
  if (sent === undefined) return undefined
  const text = String(sent)
  const key = /^"(.*)"$/s.exec(text)?.[1] ?? text
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) throw new ServiceError('idempotency_key_invalid')
  return key
}

/**
 * The reservation of a key for a request. It holds keyed hashes only: the key is usually a hash of personal data,
 * and so is the request's own hash. Both use the partner's hash key, because a reservation is found by its hash
 * alone, which must stay the same while the operator rotates a root key or a pepper.
 */
export function reservationOf(
  key: string,
  request: SameRequest,
  context: { partner: Partner; mode: KeyReservation['mode'] },
): KeyReservation {
  const { hashKey } = context.partner
  const { operation, sent } = request
  const { path, query } = request.target()
  return {
    operation: operation.id,
    keyHash: keyedHash(hashKey, 'idempotency_keys.key', key),
    requestHash: keyedHash(
      hashKey,
      'idempotency_keys.request',
      operation.method,
      path,
      query && canonicalQuery(query),
      sent === undefined ? '' : canonicalJson(sent),
    ),
    attemptId: randomUUID(),
    mode: context.mode,
  }
}

/** A query in one form, however its parameters were encoded and ordered: in a bulk they are members of an object. */
function canonicalQuery(query: string): string {
  const parameters = new URLSearchParams(query)
  parameters.sort()
  return parameters.toString()
}

/**
 * A JSON value in the form of RFC 8785: two texts of the same value become the same text, whatever the order of their
 * members. The value must come from `JSON.parse`, and its texts must not contain lone surrogates, which request bodies
 * never do.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  // JavaScript sorts and writes texts and numbers as the RFC requires, because the RFC was written after JavaScript's
  // rules.
  let members = ''
  for (const name of sorted(Object.keys(value))) {
    const member = `${quoted(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`
    members = members === '' ? member : `${members},${member}`
  }
  return `{${members}}`
}

/** Few names are sorted in place, because `sort` copies them, which costs more than the sorting. */
function sorted(names: string[]): string[] {
  if (names.length > FEW_NAMES) return names.sort()
  for (let from = 1; from < names.length; from += 1) {
    const name = names[from] as string
    let to = from
    for (; to > 0 && (names[to - 1] as string) > name; to -= 1) names[to] = names[to - 1] as string
    names[to] = name
  }
  return names
}

const FEW_NAMES = 16

/** Nothing in these texts is escaped. To see that costs a third of what `JSON.stringify` costs. */
const plain = /^[ !#-[\]-~]*$/

function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}
