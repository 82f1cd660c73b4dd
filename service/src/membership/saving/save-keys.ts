import type { Instant } from '../../calendar/calendar.ts'
import { bytes, texts, uuids } from '../../db/binary-array.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, part, type Query, rowsOf, sql, timestamp } from '../../db/sql.ts'
import type { BatchWrites, ReservedKey } from './batch-writes.ts'

/** Deletes keys that have lapsed, so that they are free. */
export function deleteKeys(keys: readonly BatchWrites['staleKeys'][number][], { isSpread }: Layout): Query {
  const partners = uuids(keys.map(key => key.partnerId))
  const naming = namingPartners(isSpread, partners)
  return sql`
    delete from idempotency_keys k
    using unnest(${partners}::uuid[], ${texts(keys.map(key => key.operation))}::text[],
      ${bytes(keys.map(key => key.keyHash))}::bytea[]) as stale (partner_id, operation, key_hash)
    where k.partner_id = stale.partner_id and k.operation = stale.operation and k.key_hash = stale.key_hash
      ${naming(part`k.partner_id`)}`
}

/** Adds the keys that commands have used up; one that exists already fails the transaction. */
export function insertKeys(keys: readonly ReservedKey[], createdAt: Instant, layout: Layout): Query {
  const rows = rowsOf(layout, {
    partner_id: columnOf.uuid(keys.map(key => key.partnerId)),
    operation: columnOf.text(keys.map(key => key.operation)),
    key_hash: columnOf.bytes(keys.map(key => key.keyHash)),
    request_hash: columnOf.bytes(keys.map(key => key.requestHash)),
    attempt_id: columnOf.uuid(keys.map(key => key.attemptId)),
    service_id: columnOf.uuid(keys.map(key => key.serviceId)),
    prefill_number: columnOf.integer(keys.map(key => key.prefillNumber ?? null)),
    sealed_answer: columnOf.bytes(keys.map(key => key.sealedAnswer)),
    expires_at: columnOf.instant(keys.map(key => key.expiresAt)),
  })
  return sql`
    insert into idempotency_keys (partner_id, operation, key_hash, request_hash, attempt_id, service_id,
      prefill_number, sealed_answer, created_at, expires_at)
    select partner_id, operation, key_hash, request_hash, attempt_id, service_id, prefill_number, sealed_answer,
      ${timestamp(createdAt)}::timestamptz, expires_at
    from ${rows}`
}
