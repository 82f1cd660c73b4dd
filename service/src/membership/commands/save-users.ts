import { type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'
import { booleans, documents, integers, texts, timestamps } from '../../db/binary-array.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, ofAnyLength, part, type Query, rowsOf, sql, timestamp } from '../../db/sql.ts'
import { ids } from '../records/user-ids.ts'
import { dueAt } from '../rules/apply-due.ts'
import type { User } from '../rules/state.ts'
import type { BatchWrites, ChangedUser, ErasedUserRow } from './batch-writes.ts'
import { refusedHash } from './refused-creates.ts'

/** Releases the names of erased users for the new users of these names. */
export function giveUpNames(users: BatchWrites['renamed'], { isSpread }: Layout): Query {
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
  const rows = rowsOf(
    layout,
    columnOf.uuid(users.map(user => user.partnerId)),
    columnOf.uuid(users.map(user => user.serviceId)),
    columnOf.text(users.map(user => user.userid)),
    columnOf.integer(entries.map(entry => entry.version)),
    columnOf.instant(users.map(user => user.createdAt)),
    columnOf.instant(users.map(user => prefillExpiresAt(user.createdAt))),
  )
  const insert = part`
    insert into users (partner_id, service_id, userid, version, status, created_at, updated_at, prefill_count,
      prefill_written_at, entry_expires_at, due_at)
    select partner_id, service_id, userid, version, 'prefilled', created_at, created_at, 1, created_at, expires_at,
      expires_at
    from ${rows} as row (partner_id, service_id, userid, version, created_at, expires_at)`
  return layout.isSpread
    ? sql`${insert}`
    : sql`
    with added as (${insert} on conflict (partner_id, userid) where is_current do nothing returning 1)
    select 1 / (count(*) = ${entries.length})::integer as are_all from added`
}

/** Adds the wrapped data keys of new users. */
export function insertDataKeys(entries: readonly ChangedUser[], layout: Layout): Query {
  const rows = rowsOf(
    layout,
    columnOf.uuid(entries.map(entry => entry.user.partnerId)),
    columnOf.uuid(entries.map(entry => entry.user.serviceId)),
    columnOf.bytes(entries.map(entry => entry.wrappedKey)),
  )
  return sql`
    insert into data_keys (partner_id, service_id, wrapped_key)
    select * from ${rows} as row`
}

/** Writes users at the versions that were read; a user with another version fails the transaction. */
export function updateUsers(entries: readonly ChangedUser[], layout: Layout): Query {
  const users = entries.map(entry => entry.user)
  const { partners, services } = ids(users)
  const naming = namingPartners(layout.isSpread, partners)
  const swaps = documents(
    users.map(user =>
      user.swap
        ? JSON.stringify(
            user.swap.pairs.map(pair => ({ add: pair.add ?? null, remove: pair.remove ?? null })),
          )
        : null,
    ),
  )
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

/** What of a user an erasure removes whole. The data key is among it: what was sealed with it elsewhere is lost, too. */
const removedWithTheUser = [
  part`delete from enrolments`,
  part`delete from consents`,
  part`delete from confirmations`,
  part`delete from beneficiary_designations`,
  part`delete from search_hashes`,
  part`delete from data_keys`,
  part`delete from documents`,
]

/**
 * Destroys the data key and everything that it sealed; deletes all links, enrolments and consents; and reduces userid,
 * reasons and history to what tells nothing about the person. The idempotency keys of the user's requests lapse in
 * time, and until then report the erasure.
 */
export function eraseUsers(erased: readonly ErasedUserRow[], at: Instant, { isSpread }: Layout): Query[] {
  const users = erased.map(({ user }) => user)
  const { partners, services } = ids(users)
  const naming = namingPartners(isSpread, partners)
  return [
    sql`
    insert into erasures (partner_id, service_id, erased_at)
    select partner_id, service_id, ${timestamp(at)}
    from unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    on conflict (partner_id, service_id) do nothing`,
    // An earlier erased user of the same name gives the name up, because a name may find only one user.
    sql`
    update users u set is_current = false
    from unnest(${partners}::uuid[], ${services}::uuid[], ${erased.map(({ name }) => name)}::text[])
      as gone (partner_id, service_id, name)
    where u.partner_id = gone.partner_id and u.userid = gone.name and u.is_current and u.service_id <> gone.service_id
      ${naming(part`u.partner_id`)}`,
    sql`
    update users u set userid = gone.name, offer = null, offer_since = null, offer_version = null, offer_in_force = false,
      offer_admits = true, cancel_at = null, cancel_requested_at = null, cancel_reason = null
    from unnest(${partners}::uuid[], ${services}::uuid[], ${erased.map(({ name }) => name)}::text[])
      as gone (partner_id, service_id, name)
    where u.partner_id = gone.partner_id and u.service_id = gone.service_id
      ${naming(part`u.partner_id`)}`,
    // As text: a cluster accepts no function here whose result could depend on the session, which JSON functions may.
    sql`
    update history h set reference = null, lines = ('[' || coalesce((
      select string_agg('["user",' || (line -> 1)::text || ',' || (line -> 2)::text || ','
        || regexp_replace((line -> 3)::text, ':.*"$', '"') || ']', ',' order by ordinal)
      from jsonb_array_elements(h.lines) with ordinality as told (line, ordinal) where line ->> 0 = 'user'), '') || ']')::jsonb
    from unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where h.partner_id = gone.partner_id and h.service_id = gone.service_id
      ${naming(part`h.partner_id`)}`,
    sql`
    update operator_requests r set sealed = '', outcome = coalesce(r.outcome, 'lapsed'),
      decided_at = coalesce(r.decided_at, ${timestamp(at)}::timestamptz)
    from unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where r.partner_id = gone.partner_id and r.service_id = gone.service_id
      ${naming(part`r.partner_id`)}`,
    ...removedWithTheUser.map(
      deletion => sql`
    ${deletion} t using unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where t.partner_id = gone.partner_id and t.service_id = gone.service_id
      ${naming(part`t.partner_id`)}`,
    ),
    // One statement for each user: on a table that was never analyzed, a join would read the links of all partners.
    ...users.map(
      user => sql`
    delete from page_sessions where partner_id = ${user.partnerId} and userid = ${user.userid}`,
    ),
    ...erased.map(
      ({ user, partner }) => sql`
    delete from refused_creates
    where partner_id = ${user.partnerId} and userid_hash = ${refusedHash(partner, user.userid)}`,
    ),
    sql`
    update idempotency_keys k set sealed_answer = null
    from unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where k.partner_id = gone.partner_id and k.service_id = gone.service_id and k.sealed_answer is not null
      ${naming(part`k.partner_id`)}`,
  ]
}

/** Ends the links and sessions of users whose membership is over; one statement for each, as in an erasure. */
export function revokeLinks(users: readonly User[], at: Instant): Query[] {
  return users.map(
    user => sql`
    update page_sessions set revoked_at = ${timestamp(at)}
    where partner_id = ${user.partnerId} and userid = ${user.userid} and revoked_at is null`,
  )
}
