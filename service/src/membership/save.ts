import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import type { DocumentKind } from './documents.ts'
import type { HistoryLine } from './history.ts'
import { dueAt } from './settle.ts'
import type { Consent, Enrolment, User } from './state.ts'

/** A history line of one user. */
export type HistoryRow = HistoryLine & {
  readonly id: string
  readonly user: User
  readonly recordedAt: Instant
}
/** An event with the bytes that will be sent. */
export type EventRow = {
  readonly id: string
  readonly user: User
  readonly eventname: string
  readonly idempotencyKey: string
  readonly body: Buffer
  readonly data: Record<string, string>
  readonly createdAt: Instant
}
/** A claimed idempotency key. */
export type ClaimedKey = {
  readonly partnerId: string
  readonly operation: string
  readonly keyHash: Buffer
  readonly requestHash: Buffer
  readonly attemptId: string
  readonly serviceId: string
  readonly prefillNumber: number | undefined
  readonly sealedAnswer: Buffer | undefined
  readonly createdAt: Instant
  readonly expiresAt: Instant
}
/** A document to write, or to delete when `sealed` is undefined. */
export type DocumentChange = {
  readonly user: User
  readonly kind: DocumentKind
  readonly sealed: Buffer | undefined
  readonly writtenAt: Instant
}

/** Everything that one batch writes. */
export type Batch = {
  /** Users whose earlier namesake, erased, gives up the name. */
  readonly renamed: readonly { partnerId: string; serviceId: string }[]
  readonly users: readonly { user: User; isNew: boolean; wrappedKey: Buffer | undefined }[]
  /** Erased users, and when in real time. */
  readonly erased: readonly { readonly user: User; readonly at: Instant }[]
  /** Users whose cancel or erasure took effect: their links and sessions end. */
  readonly ended: readonly { readonly user: User; readonly at: Instant }[]
  readonly enrolments: readonly { user: User; enrolment: Enrolment }[]
  readonly consents: readonly { user: User; consent: Consent; textHash: Buffer | undefined }[]
  readonly documents: readonly DocumentChange[]
  readonly history: readonly HistoryRow[]
  readonly events: readonly EventRow[]
  readonly staleKeys: readonly { partnerId: string; operation: string; keyHash: Buffer }[]
  readonly keys: readonly ClaimedKey[]
}

/**
 * Writes a batch inside a transaction, each table by one statement, and only the tables it touches. The statements
 * travel together and run in this order; the first that fails fails the batch.
 */
export const saveBatch = async (tx: Executor, batch: Batch): Promise<void> => {
  const fresh = batch.users.filter(entry => entry.isNew)
  const known = batch.users.filter(entry => !entry.isNew)
  await Promise.all([
    batch.renamed.length > 0 && giveUpNames(tx, batch.renamed),
    fresh.length > 0 && insertUsers(tx, fresh),
    // A new user is inserted as one with a prefill only; an account made at once follows.
    ...[fresh.filter(entry => entry.user.offer !== undefined), known].map(
      entries => entries.length > 0 && updateUsers(tx, entries),
    ),
    ...inTurn(batch.enrolments).map(part => saveEnrolments(tx, part)),
    batch.consents.length > 0 && saveConsents(tx, batch.consents),
    ...saveDocuments(tx, batch.documents),
    batch.history.length > 0 &&
      insertHistory(tx, batch.history, new Set(fresh.map(({ user }) => user.serviceId))),
    batch.events.length > 0 && insertEvents(tx, batch.events),
    batch.staleKeys.length > 0 && deleteKeys(tx, batch.staleKeys),
    batch.keys.length > 0 && insertKeys(tx, batch.keys),
    ...(batch.erased.length > 0 ? eraseUsers(tx, batch.erased) : []),
    batch.ended.length > 0 && revokeLinks(tx, batch.ended),
  ])
}

const ids = (users: readonly { partnerId: string; serviceId: string }[]) => ({
  partners: users.map(user => user.partnerId),
  services: users.map(user => user.serviceId),
})

const giveUpNames = (tx: Executor, users: Batch['renamed']) => {
  const { partners, services } = ids(users)
  return tx.query(sql`
    update users u set is_current = false
    from unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where u.partner_id = gone.partner_id and u.service_id = gone.service_id`)
}

const userColumns = (users: readonly User[]) => ({
  ...ids(users),
  statuses: users.map(user => user.status),
  updated: users.map(user => timestamp(user.updatedAt)),
  counts: users.map(user => user.prefillCount),
  written: users.map(user => timestamp(user.prefillWrittenAt)),
  lapse: users.map(user => timestamp(user.entryExpiresAt)),
  due: users.map(user => timestamp(dueAt(user))),
})

const insertUsers = (tx: Executor, entries: Batch['users']): Promise<unknown> => {
  const users = entries.map(entry => entry.user)
  const c = userColumns(users)
  return tx.query(sql`
    with fresh as (
      insert into users (partner_id, service_id, userid, status, created_at, updated_at, prefill_count,
        prefill_written_at, entry_expires_at, due_at)
      select partner_id, service_id, userid, case when status in ('prefilled', 'registering') then status else 'none' end,
        created_at, updated_at, prefill_count, prefill_written_at, entry_expires_at, due_at
      from unnest(${c.partners}::uuid[], ${c.services}::uuid[], ${users.map(user => user.userid)}::text[],
        ${c.statuses}::text[], ${users.map(user => timestamp(user.createdAt))}::timestamptz[],
        ${c.updated}::timestamptz[], ${c.counts}::integer[], ${c.written}::timestamptz[], ${c.lapse}::timestamptz[],
        ${c.due}::timestamptz[])
        as row (partner_id, service_id, userid, status, created_at, updated_at, prefill_count, prefill_written_at,
          entry_expires_at, due_at)
      order by partner_id, userid
      returning partner_id, service_id
    )
    insert into data_keys (partner_id, service_id, wrapped_key)
    select fresh.partner_id, fresh.service_id, key.wrapped_key
    from fresh
    join unnest(${c.partners}::uuid[], ${c.services}::uuid[], ${entries.map(entry => entry.wrappedKey ?? null)}::bytea[])
      as key (partner_id, service_id, wrapped_key) using (partner_id, service_id)
    where key.wrapped_key is not null`)
}

const updateUsers = (tx: Executor, entries: Batch['users']): Promise<unknown> => {
  const users = entries.map(entry => entry.user)
  const c = userColumns(users)
  const swaps = users.map(user =>
    user.swap
      ? JSON.stringify(user.swap.pairs.map(pair => ({ add: pair.add ?? null, remove: pair.remove ?? null })))
      : null,
  )
  return tx.query(sql`
    update users u set status = row.status, updated_at = row.updated_at, prefill_count = row.prefill_count,
      prefill_written_at = row.prefill_written_at, entry_expires_at = row.entry_expires_at, offer = row.offer,
      offer_since = row.offer_since, offer_version = row.offer_version, offer_in_force = row.offer_in_force,
      pending_offer = row.pending_offer, pending_offer_at = row.pending_offer_at, swap_pairs = row.swap_pairs,
      swap_at = row.swap_at, cancel_at = row.cancel_at, cancel_requested_at = row.cancel_requested_at,
      cancel_reason = row.cancel_reason, erased_at = row.erased_at, due_at = row.due_at
    from unnest(${c.partners}::uuid[], ${c.services}::uuid[], ${c.statuses}::text[], ${c.updated}::timestamptz[],
      ${c.counts}::integer[], ${c.written}::timestamptz[], ${c.lapse}::timestamptz[],
      ${users.map(user => user.offer?.name ?? null)}::text[],
      ${users.map(user => timestamp(user.offer?.since))}::timestamptz[],
      ${users.map(user => user.offer?.version ?? null)}::integer[],
      ${users.map(user => user.offer?.inForce ?? false)}::boolean[],
      ${users.map(user => user.pendingOffer?.name ?? null)}::text[],
      ${users.map(user => timestamp(user.pendingOffer?.at))}::timestamptz[],
      ${swaps}::jsonb[], ${users.map(user => timestamp(user.swap?.at))}::timestamptz[],
      ${users.map(user => timestamp(user.cancel?.at))}::timestamptz[],
      ${users.map(user => timestamp(user.cancel?.requestedAt))}::timestamptz[],
      ${users.map(user => user.cancel?.reason ?? null)}::text[],
      ${users.map(user => timestamp(user.erasedAt))}::timestamptz[], ${c.due}::timestamptz[])
      as row (partner_id, service_id, status, updated_at, prefill_count, prefill_written_at, entry_expires_at, offer,
        offer_since, offer_version, offer_in_force, pending_offer, pending_offer_at, swap_pairs, swap_at, cancel_at,
        cancel_requested_at, cancel_reason, erased_at, due_at)
    where u.partner_id = row.partner_id and u.service_id = row.service_id`)
}

/** Rows that close are written before rows that open, as the windows of one benefit must not overlap at any moment. */
const inTurn = (entries: Batch['enrolments']): Batch['enrolments'][] =>
  [true, false]
    .map(closes => entries.filter(({ enrolment }) => (enrolment.closeReason !== undefined) === closes))
    .filter(part => part.length > 0)

const saveEnrolments = (tx: Executor, entries: Batch['enrolments']) => {
  const { partners, services } = ids(entries.map(entry => entry.user))
  const rows = entries.map(entry => entry.enrolment)
  return tx.query(sql`
    insert into enrolments as e (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, planned_by,
      catalogue_version, picked_at, starts_at, ends_at, own_end_at, own_end_reason, action_due_at, close_reason)
    select * from unnest(${partners}::uuid[], ${services}::uuid[], ${rows.map(row => row.id)}::uuid[],
      ${rows.map(row => row.benefit)}::text[], ${rows.map(row => row.offer)}::text[],
      ${rows.map(row => row.isFixed)}::boolean[], ${rows.map(row => row.state)}::text[],
      ${rows.map(row => row.plannedBy ?? null)}::text[], ${rows.map(row => row.version)}::integer[],
      ${rows.map(row => timestamp(row.pickedAt))}::timestamptz[],
      ${rows.map(row => timestamp(row.startsAt))}::timestamptz[],
      ${rows.map(row => timestamp(row.endsAt))}::timestamptz[],
      ${rows.map(row => timestamp(row.ownEnd?.at))}::timestamptz[],
      ${rows.map(row => row.ownEnd?.reason ?? null)}::text[],
      ${rows.map(row => timestamp(row.actionDueAt))}::timestamptz[],
      ${rows.map(row => row.closeReason ?? null)}::text[])
    on conflict (partner_id, service_id, enrolment_id) do update set offer = excluded.offer,
      is_fixed = excluded.is_fixed, state = excluded.state, planned_by = excluded.planned_by,
      starts_at = excluded.starts_at, ends_at = excluded.ends_at, own_end_at = excluded.own_end_at,
      own_end_reason = excluded.own_end_reason, action_due_at = excluded.action_due_at,
      close_reason = excluded.close_reason`)
}

const saveConsents = (tx: Executor, entries: Batch['consents']) => {
  const { partners, services } = ids(entries.map(entry => entry.user))
  return tx.query(sql`
    insert into consents (partner_id, service_id, name, version, text_hash, locale, agreed_at)
    select * from unnest(${partners}::uuid[], ${services}::uuid[], ${entries.map(entry => entry.consent.name)}::text[],
      ${entries.map(entry => entry.consent.version)}::text[], ${entries.map(entry => entry.textHash ?? null)}::bytea[],
      ${entries.map(entry => entry.consent.locale)}::text[],
      ${entries.map(entry => timestamp(entry.consent.agreedAt))}::timestamptz[])
    on conflict (partner_id, service_id, name, version) do update
      set locale = excluded.locale, agreed_at = excluded.agreed_at, text_hash = excluded.text_hash`)
}

const saveDocuments = (tx: Executor, changes: readonly DocumentChange[]): Promise<unknown>[] => {
  const written = changes.filter(change => change.sealed !== undefined)
  const deleted = changes.filter(change => change.sealed === undefined)
  return [
    ...(written.length > 0 ? [writeDocuments(tx, written)] : []),
    ...(deleted.length > 0 ? [deleteDocuments(tx, deleted)] : []),
  ]
}

const writeDocuments = (tx: Executor, changes: readonly DocumentChange[]) => {
  const { partners, services } = ids(changes.map(change => change.user))
  return tx.query(sql`
    insert into documents (partner_id, service_id, kind, sealed, written_at)
    select * from unnest(${partners}::uuid[], ${services}::uuid[], ${changes.map(change => change.kind)}::text[],
      ${changes.map(change => change.sealed)}::bytea[],
      ${changes.map(change => timestamp(change.writtenAt))}::timestamptz[])
    on conflict (partner_id, service_id, kind) do update set sealed = excluded.sealed, written_at = excluded.written_at`)
}

const deleteDocuments = (tx: Executor, changes: readonly DocumentChange[]) => {
  const { partners, services } = ids(changes.map(change => change.user))
  return tx.query(sql`
    delete from documents d
    using unnest(${partners}::uuid[], ${services}::uuid[], ${changes.map(change => change.kind)}::text[])
      as gone (partner_id, service_id, kind)
    where d.partner_id = gone.partner_id and d.service_id = gone.service_id and d.kind = gone.kind`)
}

/**
 * The users are locked, and each line has the number after the last: so the numbers of one user rise as it changed. Of a
 * new user there is no last one, and it is not looked for.
 */
const insertHistory = (tx: Executor, rows: readonly HistoryRow[], fresh: ReadonlySet<string>) => {
  const { partners, services } = ids(rows.map(row => row.user))
  return tx.query(sql`
    insert into history (partner_id, service_id, sequence_number, entry_id, at, recorded_at, what, from_state, to_state,
      who, why)
    select partner_id, service_id, place + case when is_new then 0 else (
        select coalesce(max(h.sequence_number), 0) from history h
        where h.partner_id = row.partner_id and h.service_id = row.service_id) end,
      entry_id, at, recorded_at, what, from_state, to_state, who, why
    from unnest(${partners}::uuid[], ${services}::uuid[], ${placesOf(services)}::integer[],
      ${services.map(service => fresh.has(service))}::boolean[],
      ${rows.map(row => row.id)}::uuid[], ${rows.map(row => timestamp(row.at))}::timestamptz[],
      ${rows.map(row => timestamp(row.recordedAt))}::timestamptz[], ${rows.map(row => row.what)}::text[],
      ${rows.map(row => row.from)}::text[], ${rows.map(row => row.to)}::text[], ${rows.map(row => row.who)}::text[],
      ${rows.map(row => row.why)}::text[])
      as row (partner_id, service_id, place, is_new, entry_id, at, recorded_at, what, from_state, to_state, who, why)`)
}

/** Which line of its user each is in the batch, from 1. */
const placesOf = (services: readonly string[]): number[] => {
  const counts = new Map<string, number>()
  return services.map(service => {
    const place = (counts.get(service) ?? 0) + 1
    counts.set(service, place)
    return place
  })
}

/**
 * Events and what is to be delivered of them are one statement: an endpoint gets all from its creation on. The users are
 * locked, and the rows are numbered as they are sorted, so that the numbers of one user rise as its events were raised.
 * The place in the log is asked for once and not row by row.
 */
const insertEvents = (tx: Executor, rows: readonly EventRow[]) => {
  const { partners, services } = ids(rows.map(row => row.user))
  return tx.query(sql`
    with raised as (
      insert into events (partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data, created_at,
        log_position)
      select partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data, created_at,
        (select log_position())
      from unnest(${partners}::uuid[], ${rows.map(row => row.id)}::uuid[], ${services}::uuid[],
        ${rows.map(row => row.user.userid)}::text[], ${rows.map(row => row.eventname)}::text[],
        ${rows.map(row => row.idempotencyKey)}::uuid[], ${rows.map(row => row.body)}::bytea[],
        ${rows.map(row => JSON.stringify(row.data))}::jsonb[], ${rows.map(row => timestamp(row.createdAt))}::timestamptz[])
        with ordinality as row (partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data,
          created_at, place)
      order by place
      returning partner_id, event_id, service_id, sequence_number, eventname, created_at
    )
    insert into deliveries (partner_id, endpoint_id, event_id, service_id, sequence_number, due_at, queued_at, ordered)
    select raised.partner_id, w.endpoint_id, raised.event_id, raised.service_id, raised.sequence_number,
      raised.created_at, raised.created_at, w.ordering = 'user'
    from raised
    join webhook_endpoints w on w.partner_id = raised.partner_id and w.deleted_at is null
      and (w.all_events or raised.eventname = any(w.events))`)
}

const deleteKeys = (tx: Executor, keys: Batch['staleKeys']) =>
  tx.query(sql`
    delete from idempotency_keys k
    using unnest(${keys.map(key => key.partnerId)}::uuid[], ${keys.map(key => key.operation)}::text[],
      ${keys.map(key => key.keyHash)}::bytea[]) as stale (partner_id, operation, key_hash)
    where k.partner_id = stale.partner_id and k.operation = stale.operation and k.key_hash = stale.key_hash`)

const insertKeys = (tx: Executor, keys: readonly ClaimedKey[]) =>
  tx.query(sql`
    insert into idempotency_keys (partner_id, operation, key_hash, request_hash, attempt_id, service_id, prefill_number,
      sealed_answer, created_at, expires_at)
    select * from unnest(${keys.map(key => key.partnerId)}::uuid[], ${keys.map(key => key.operation)}::text[],
      ${keys.map(key => key.keyHash)}::bytea[], ${keys.map(key => key.requestHash)}::bytea[],
      ${keys.map(key => key.attemptId)}::uuid[], ${keys.map(key => key.serviceId)}::uuid[],
      ${keys.map(key => key.prefillNumber ?? null)}::integer[], ${keys.map(key => key.sealedAnswer ?? null)}::bytea[],
      ${keys.map(key => timestamp(key.createdAt))}::timestamptz[],
      ${keys.map(key => timestamp(key.expiresAt))}::timestamptz[])
      as row (partner_id, operation, key_hash, request_hash, attempt_id, service_id, prefill_number, sealed_answer,
        created_at, expires_at)
    order by partner_id, operation, key_hash`)

/** Destroys the data key and what it sealed, and drops all links; the keys of the user's requests live another day. */
const eraseUsers = (tx: Executor, erased: Batch['erased']): Promise<unknown>[] => {
  const { partners, services } = ids(erased.map(({ user }) => user))
  return [
    tx.query(sql`
    delete from data_keys k using unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where k.partner_id = gone.partner_id and k.service_id = gone.service_id`),
    tx.query(sql`
    delete from documents d using unnest(${partners}::uuid[], ${services}::uuid[]) as gone (partner_id, service_id)
    where d.partner_id = gone.partner_id and d.service_id = gone.service_id`),
    // In two steps: on a table that was never analysed a plain join reads the links of all partners.
    tx.query(sql`
    delete from page_sessions s
    using unnest(${partners}::uuid[], ${erased.map(({ user }) => user.userid)}::text[]) as gone (partner_id, userid)
    cross join lateral (
      select of_user.partner_id, of_user.session_id from page_sessions of_user
      where of_user.partner_id = gone.partner_id and of_user.userid = gone.userid
      offset 0
    ) as link
    where s.partner_id = link.partner_id and s.session_id = link.session_id`),
    tx.query(sql`
    update idempotency_keys k set sealed_answer = null, expires_at = gone.erased_at + interval '24 hours'
    from unnest(${partners}::uuid[], ${services}::uuid[], ${erased.map(({ at }) => timestamp(at))}::timestamptz[])
      as gone (partner_id, service_id, erased_at)
    where k.partner_id = gone.partner_id and k.service_id = gone.service_id`),
  ]
}

const revokeLinks = (tx: Executor, ended: Batch['ended']) =>
  // In two steps, as at an erasure: see there.
  tx.query(sql`
    update page_sessions s set revoked_at = gone.at
    from unnest(${ended.map(({ user }) => user.partnerId)}::uuid[], ${ended.map(({ user }) => user.userid)}::text[],
      ${ended.map(({ at }) => timestamp(at))}::timestamptz[]) as gone (partner_id, userid, at)
    cross join lateral (
      select of_user.partner_id, of_user.session_id from page_sessions of_user
      where of_user.partner_id = gone.partner_id and of_user.userid = gone.userid and of_user.revoked_at is null
      offset 0
    ) as link
    where s.partner_id = link.partner_id and s.session_id = link.session_id and s.revoked_at is null`)
