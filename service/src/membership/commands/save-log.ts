import type { Instant } from '../../calendar/calendar.ts'
import { bytes, documents, integers, texts, timestamps, uuids } from '../../db/binary-array.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, part, type Query, sql, timestamp } from '../../db/sql.ts'
import type { BatchWrites, EventRow, HistoryRow, ReservedKey } from './batch-writes.ts'
import { ids } from './save-users.ts'

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

/**
 * Writes the events of one partner and their deliveries in one statement: an endpoint gets every event since its
 * creation. The head of the log stays locked until the commit, so that positions have the order of the commits.
 */
export function insertEvents(rows: readonly EventRow[], createdAt: Instant): Query {
  const partnerId = rows[0]?.user.partnerId
  const count = rows.length
  return sql`
    with head as (
      update event_log_heads set last = last + ${count} where partner_id = ${partnerId} returning last
    ),
    added as (
      insert into events (partner_id, position, event_id, service_id, userid, eventname, body, data, created_at)
      select ${partnerId}::uuid, (select last from head) - ${count} + place, event_id, service_id, userid, eventname,
        body, data, ${timestamp(createdAt)}::timestamptz
      from unnest(${uuids(rows.map(row => row.id))}::uuid[], ${uuids(rows.map(row => row.user.serviceId))}::uuid[],
        ${texts(rows.map(row => row.user.userid))}::text[], ${texts(rows.map(row => row.eventname))}::text[],
        ${bytes(rows.map(row => row.body))}::bytea[], ${documents(rows.map(row => JSON.stringify(row.data)))}::jsonb[])
        with ordinality as row (event_id, service_id, userid, eventname, body, data, place)
      returning event_id, service_id, position, eventname
    )
    insert into deliveries (partner_id, endpoint_id, event_id, service_id, position, due_at, queued_at, ordered)
    select ${partnerId}::uuid, w.endpoint_id, added.event_id, added.service_id, added.position,
      ${timestamp(createdAt)}::timestamptz, ${timestamp(createdAt)}::timestamptz, w.ordering = 'user'
    from added
    join webhook_endpoints w on w.partner_id = ${partnerId} and w.deleted_at is null
      and (w.all_events or added.eventname = any(w.events))`
}

/**
 * The same on a cluster. One statement would collect the events at the coordinator and send them to every node, so this
 * uses three, each of which runs on the partner's own node.
 */
export function insertEventsThere(rows: readonly EventRow[], createdAt: Instant): Query[] {
  const partnerId = rows[0]?.user.partnerId
  const count = rows.length
  const eventIds = uuids(rows.map(row => row.id))
  return [
    sql`
    update event_log_heads set last = last + ${count} where partner_id = ${partnerId}`,
    sql`
    insert into events (partner_id, position, event_id, service_id, userid, eventname, body, data, created_at)
    select head.partner_id, head.last - ${count} + place, row.event_id, row.service_id, row.userid, row.eventname, row.body,
      row.data, ${timestamp(createdAt)}::timestamptz
    from event_log_heads head
    cross join unnest(${eventIds}::uuid[], ${uuids(rows.map(row => row.user.serviceId))}::uuid[],
      ${texts(rows.map(row => row.user.userid))}::text[], ${texts(rows.map(row => row.eventname))}::text[],
      ${bytes(rows.map(row => row.body))}::bytea[], ${documents(rows.map(row => JSON.stringify(row.data)))}::jsonb[])
      with ordinality as row (event_id, service_id, userid, eventname, body, data, place)
    where head.partner_id = ${partnerId}`,
    sql`
    insert into deliveries (partner_id, endpoint_id, event_id, service_id, position, due_at, queued_at, ordered)
    select e.partner_id, w.endpoint_id, e.event_id, e.service_id, e.position, ${timestamp(createdAt)}::timestamptz,
      ${timestamp(createdAt)}::timestamptz, w.ordering = 'user'
    from webhook_endpoints w
    join events e on e.partner_id = w.partner_id and (w.all_events or e.eventname = any(w.events))
    where w.partner_id = ${partnerId} and w.deleted_at is null
      and e.partner_id = ${partnerId} and e.event_id = any(${eventIds}::uuid[])`,
  ]
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
