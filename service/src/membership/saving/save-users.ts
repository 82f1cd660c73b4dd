import { type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'
import { booleans, documents, integers, texts, timestamps } from '../../db/binary-array.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, ofAnyLength, part, type Query, rowsOf, sql, timestamp } from '../../db/sql.ts'
import { ids, type UserIds } from '../records/user-ids.ts'
import { dueAt } from '../rules/apply-due.ts'
import type { User } from '../rules/state.ts'
import type { ChangedUser } from './batch-writes.ts'

/** Releases the names of erased users for the new users of these names. */
export function giveUpNames(users: readonly UserIds[], { isSpread }: Layout): Query {
  const { partners, services } = ids(users)
  const naming = namingPartners(isSpread, partners)
  return sql`
    update users u set is_current = false
    from unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where u.partner_id = gone.partner_id and u.service_id = gone.service_id
      ${naming(part`u.partner_id`)}`
}

/** Whether the user is stored completely by `insertUsers`. */
export function isPrefillOnly(user: User): boolean {
  return (
    user.status === 'prefilled' &&
    user.prefillCount === 1 &&
    user.prefillWrittenAt === user.createdAt &&
    user.updatedAt === user.createdAt &&
    user.entryExpiresAt === prefillExpiresAt(user.createdAt) &&
    user.offer === undefined
  )
}

/**
 * Adds users who only have a prefill; one who exists already fails the transaction. The unique index would fail it, too,
 * but its message names the userid, and PostgreSQL writes it to its error log. Only that index is named, because
 * PostgreSQL searches each index that a conflict may be in before it inserts (4 µs a user). A cluster allows no such
 * check of what was added.
 */
export function insertUsers(entries: readonly ChangedUser[], layout: Layout): Query {
  const users = entries.map(entry => entry.user)
  const rows = rowsOf(layout, {
    partner_id: columnOf.uuid(users.map(user => user.partnerId)),
    service_id: columnOf.uuid(users.map(user => user.serviceId)),
    userid: columnOf.text(users.map(user => user.userid)),
    version: columnOf.integer(entries.map(entry => entry.version)),
    created_at: columnOf.instant(users.map(user => user.createdAt)),
    expires_at: columnOf.instant(users.map(user => prefillExpiresAt(user.createdAt))),
  })
  const insert = part`
    insert into users (partner_id, service_id, userid, version, status, created_at, updated_at, prefill_count,
      prefill_written_at, entry_expires_at, due_at)
    select partner_id, service_id, userid, version, 'prefilled', created_at, created_at, 1, created_at, expires_at,
      expires_at
    from ${rows}`
  return layout.isSpread
    ? sql`${insert}`
    : sql`
    with added as (${insert} on conflict (partner_id, userid) where is_current do nothing returning 1)
    select 1 / (count(*) = ${entries.length})::integer as are_all from added`
}

/** Adds the wrapped data keys of new users. */
export function insertDataKeys(entries: readonly ChangedUser[], layout: Layout): Query {
  const rows = rowsOf(layout, {
    partner_id: columnOf.uuid(entries.map(entry => entry.user.partnerId)),
    service_id: columnOf.uuid(entries.map(entry => entry.user.serviceId)),
    wrapped_key: columnOf.bytes(entries.map(entry => entry.wrappedKey)),
  })
  return sql`
    insert into data_keys (partner_id, service_id, wrapped_key)
    select * from ${rows}`
}

/** Writes users at the versions that were read; a user with another version fails the transaction. */
export function updateUsers(entries: readonly ChangedUser[], layout: Layout): Query {
  const users = entries.map(entry => entry.user)
  const { partners, services } = ids(users)
  const naming = namingPartners(layout.isSpread, partners)
  const swaps = documents(users.map(user => (user.swap ? JSON.stringify(user.swap.pairs) : null)))
  return sql`
    with written as (
      update users u set version = row.version, status = row.status, updated_at = row.updated_at,
        prefill_count = row.prefill_count, prefill_written_at = row.prefill_written_at,
        entry_expires_at = row.entry_expires_at, offer = row.offer, offer_since = row.offer_since,
        offer_version = row.offer_version, offer_in_force = row.offer_in_force,
        offer_admits = row.offer_admits, pending_offer = row.pending_offer,
        pending_offer_at = row.pending_offer_at, swap_pairs = row.swap_pairs, swap_at = row.swap_at,
        cancel_at = row.cancel_at, cancel_requested_at = row.cancel_requested_at, cancel_reason = row.cancel_reason,
        erased_at = row.erased_at, due_at = row.due_at
      from unnest(${ofAnyLength(layout, part`${partners}::uuid[]`)}, ${services}::uuid[], ${integers(entries.map(entry => entry.readVersion))}::integer[],
        ${integers(entries.map(entry => entry.version))}::integer[], ${texts(users.map(user => user.status))}::text[],
        ${timestamps(users.map(user => user.updatedAt))}::timestamptz[],
        ${integers(users.map(user => user.prefillCount))}::integer[],
        ${timestamps(users.map(user => user.prefillWrittenAt))}::timestamptz[],
        ${timestamps(users.map(user => user.entryExpiresAt))}::timestamptz[],
        ${texts(users.map(user => user.offer?.name ?? null))}::text[],
        ${timestamps(users.map(user => user.offer?.since))}::timestamptz[],
        ${integers(users.map(user => user.offer?.version ?? null))}::integer[],
        ${booleans(users.map(user => user.offer?.inForce ?? false))}::boolean[],
        ${booleans(users.map(user => user.offer?.admits ?? true))}::boolean[],
        ${texts(users.map(user => user.pendingOffer?.name ?? null))}::text[],
        ${timestamps(users.map(user => user.pendingOffer?.at))}::timestamptz[],
        ${swaps}::jsonb[], ${timestamps(users.map(user => user.swap?.at))}::timestamptz[],
        ${timestamps(users.map(user => user.cancel?.at))}::timestamptz[],
        ${timestamps(users.map(user => user.cancel?.requestedAt))}::timestamptz[],
        ${texts(users.map(user => user.cancel?.reason ?? null))}::text[],
        ${timestamps(users.map(user => user.erasedAt))}::timestamptz[],
        ${timestamps(users.map(user => dueAt(user)))}::timestamptz[])
        as row (partner_id, service_id, read_version, version, status, updated_at, prefill_count, prefill_written_at,
          entry_expires_at, offer, offer_since, offer_version, offer_in_force, offer_admits, pending_offer, pending_offer_at,
          swap_pairs, swap_at, cancel_at, cancel_requested_at, cancel_reason, erased_at, due_at)
      where u.partner_id = row.partner_id and u.service_id = row.service_id and u.version = row.read_version
        ${naming(part`u.partner_id`)}
      returning 1
    )
    select 1 / (count(*) = ${entries.length})::integer as are_all from written`
}

/** Ends the links and sessions of users whose membership is over; one statement for each, as in an erasure. */
export function revokeLinks(users: readonly User[], at: Instant): Query[] {
  return users.map(
    user => sql`
    update page_sessions set revoked_at = ${timestamp(at)}
    where partner_id = ${user.partnerId} and userid = ${user.userid} and revoked_at is null`,
  )
}
