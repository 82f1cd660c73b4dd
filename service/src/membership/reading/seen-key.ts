import type { Instant } from '../../calendar/calendar.ts'
import { openJson } from '../records/sealed.ts'
import type { KeyRow } from './load.ts'

/** A key that was used before. */
export type SeenKey = {
  readonly requestHash: Buffer
  readonly attemptId: string
  readonly serviceId: string | undefined
  readonly prefillNumber: number | undefined
  readonly expiresAt: Instant
  /** The first answer; `undefined` when it can no longer be opened. */
  readonly answer: (dataKey: () => Buffer | undefined) => unknown
  readonly userErasedAt: Instant | undefined
  readonly userWrittenAt: Instant | undefined
}

/** The name of a key within a batch. */
export function keyName(partnerId: string, operation: string, keyHash: Buffer): string {
  return `${partnerId} ${operation} ${keyHash.toString('base64')}`
}

/** The seen key of a row. */
export function seenKeyOf(row: KeyRow): SeenKey {
  return {
    requestHash: row.request_hash,
    attemptId: row.attempt_id,
    serviceId: row.service_id ?? undefined,
    prefillNumber: row.prefill_number ?? undefined,
    expiresAt: row.expires_at,
    answer: dataKey => {
      const key = row.sealed_answer && dataKey()
      if (!row.sealed_answer || !key || !row.service_id) return undefined
      const user = { partnerId: row.partner_id, serviceId: row.service_id }
      return openJson(key, row.sealed_answer, 'idempotency_keys', user)
    },
    userErasedAt: row.user_erased_at ?? undefined,
    userWrittenAt: row.user_prefill_written_at ?? undefined,
  }
}
