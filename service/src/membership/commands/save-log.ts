import type { Instant } from '../../calendar/calendar.ts'
import { bytes, documents, integers, texts, timestamps, uuids } from '../../db/binary-array.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, part, type Query, sql, timestamp } from '../../db/sql.ts'
import { ids } from '../records/user-ids.ts'
import type { BatchWrites, HistoryRow, ReservedKey } from './batch-writes.ts'

/** Adds a row for each change. */
export function insertHistory(rows: readonly HistoryRow[], recordedAt: Instant): Query {
  const { partners, services } = ids(rows.map(row => row.user))
  return sql`
    insert into history (partner_id, service_id, version, at, recorded_at, who, lines, event_ids, actor, request_id,
      reference)
    select partner_id, service_id, version, at, ${timestamp(recordedAt)}::timestamptz, who, lines, event_ids::uuid[],
      actor, request_id, reference
    from unnest(${partners}::uuid[], ${services}::uuid[], ${integers(rows.map(row => row.version))}::integer[],
      ${timestamps(rows.map(row => row.at))}::timestamptz[], ${texts(rows.map(row => row.who))}::text[],
      ${documents(rows.map(row => JSON.stringify(row.lines.map(line => [line.what, line.from, line.to, line.why]))))}::jsonb[],
      ${texts(rows.map(row => `{${row.eventIds.join()}}`))}::text[], ${texts(rows.map(row => row.actor ?? null))}::text[],
      ${uuids(rows.map(row => row.requestId ?? null))}::uuid[], ${texts(rows.map(row => row.reference ?? null))}::text[])
      as row (partner_id, service_id, version, at, who, lines, event_ids, actor, request_id, reference)`
}

/** Deletes keys that have lapsed, so that they are free. */
export function deleteKeys(keys: BatchWrites['staleKeys'], { isSpread }: Layout): Query {
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
export function insertKeys(keys: readonly ReservedKey[], createdAt: Instant): Query {
  return sql`
    insert into idempotency_keys (partner_id, operation, key_hash, request_hash, attempt_id, service_id,
      prefill_number, sealed_answer, created_at, expires_at)
    select partner_id, operation, key_hash, request_hash, attempt_id, service_id, prefill_number, sealed_answer,
      ${timestamp(createdAt)}::timestamptz, expires_at
    from unnest(${uuids(keys.map(key => key.partnerId))}::uuid[], ${texts(keys.map(key => key.operation))}::text[],
      ${bytes(keys.map(key => key.keyHash))}::bytea[], ${bytes(keys.map(key => key.requestHash))}::bytea[],
      ${uuids(keys.map(key => key.attemptId))}::uuid[], ${uuids(keys.map(key => key.serviceId))}::uuid[],
      ${integers(keys.map(key => key.prefillNumber ?? null))}::integer[],
      ${bytes(keys.map(key => key.sealedAnswer ?? null))}::bytea[],
      ${timestamps(keys.map(key => key.expiresAt))}::timestamptz[])
      as row (partner_id, operation, key_hash, request_hash, attempt_id, service_id, prefill_number, sealed_answer,
        expires_at)`
}
