import { booleans, integers, texts, timestamps, uuids } from '../../db/binary-array.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { namingPartners, part, type Query, rowsOf, sql } from '../../db/sql.ts'
import { ids } from '../records/user-ids.ts'
import type { Enrolment } from '../rules/state.ts'
import type { BatchWrites, DocumentChange } from './batch-writes.ts'

/**
 * Puts rows that are voided or closed before rows that open, because the enrolments of one benefit must not overlap at
 * any moment.
 */
export function inTurn(entries: BatchWrites['enrolments']): BatchWrites['enrolments'][] {
  return [0, 1, 2]
    .map(turn => entries.filter(({ enrolment }) => turnOf(enrolment) === turn))
    .filter(part => part.length > 0)
}

function turnOf({ state, closeReason }: Enrolment): number {
  return state === 'void' ? 0 : closeReason === undefined ? 2 : 1
}

/** Writes new and changed enrolments. */
export function saveEnrolments(entries: BatchWrites['enrolments']): Query {
  const { partners, services } = ids(entries.map(entry => entry.user))
  const rows = entries.map(entry => entry.enrolment)
  return sql`
    insert into enrolments as e (partner_id, service_id, enrolment_id, benefit, offer, is_fixed, state, planned_by,
      catalogue_version, picked_at, starts_at, ends_at, own_end_at, own_end_reason, action_due_at, close_reason,
      is_single, corrects, corrected_end_at)
    select * from unnest(${partners}::uuid[], ${services}::uuid[], ${uuids(rows.map(row => row.id))}::uuid[],
      ${texts(rows.map(row => row.benefit))}::text[], ${texts(rows.map(row => row.offer))}::text[],
      ${booleans(rows.map(row => row.isFixed))}::boolean[], ${texts(rows.map(row => row.state))}::text[],
      ${texts(rows.map(row => row.plannedBy ?? null))}::text[], ${integers(rows.map(row => row.version))}::integer[],
      ${timestamps(rows.map(row => row.pickedAt))}::timestamptz[],
      ${timestamps(rows.map(row => row.startsAt))}::timestamptz[],
      ${timestamps(rows.map(row => row.endsAt))}::timestamptz[],
      ${timestamps(rows.map(row => row.ownEnd?.at))}::timestamptz[],
      ${texts(rows.map(row => row.ownEnd?.reason ?? null))}::text[],
      ${timestamps(rows.map(row => row.actionDueAt))}::timestamptz[],
      ${texts(rows.map(row => row.closeReason ?? null))}::text[],
      ${booleans(rows.map(row => row.isSingle))}::boolean[], ${uuids(rows.map(row => row.corrects ?? null))}::uuid[],
      ${timestamps(rows.map(row => row.correctedEnd))}::timestamptz[])
    on conflict (partner_id, service_id, enrolment_id) do update set offer = excluded.offer,
      is_fixed = excluded.is_fixed, state = excluded.state, planned_by = excluded.planned_by,
      starts_at = excluded.starts_at, ends_at = excluded.ends_at, own_end_at = excluded.own_end_at,
      own_end_reason = excluded.own_end_reason, corrected_end_at = excluded.corrected_end_at, action_due_at = excluded.action_due_at,
      close_reason = excluded.close_reason, is_single = excluded.is_single`
}

/** Adds the sealed documents of new users, who have none yet: an upsert would cost 2 to 3 µs more for each document. */
export function insertDocuments(changes: readonly DocumentChange[], layout: Layout): Query {
  return sql`
    insert into documents (partner_id, service_id, kind, sealed, written_at)
    select * from ${documentRows(changes, layout)} as row`
}

/** Writes sealed documents, in the place of those that are there. */
export function writeDocuments(changes: readonly DocumentChange[], layout: Layout): Query {
  return sql`
    insert into documents (partner_id, service_id, kind, sealed, written_at)
    select * from ${documentRows(changes, layout)} as row
    on conflict (partner_id, service_id, kind) do update set sealed = excluded.sealed, written_at = excluded.written_at`
}

function documentRows(changes: readonly DocumentChange[], layout: Layout) {
  return rowsOf(
    layout,
    columnOf.uuid(changes.map(({ user }) => user.partnerId)),
    columnOf.uuid(changes.map(({ user }) => user.serviceId)),
    columnOf.text(changes.map(change => change.kind)),
    columnOf.bytes(changes.map(change => change.sealed)),
    columnOf.instant(changes.map(change => change.writtenAt)),
  )
}

/** Deletes documents. */
export function deleteDocuments(changes: readonly DocumentChange[], { isSpread }: Layout): Query {
  const { partners, services } = ids(changes.map(change => change.user))
  const naming = namingPartners(isSpread, partners)
  return sql`
    delete from documents d
    using unnest(${partners}::uuid[], ${services}::uuid[], ${texts(changes.map(change => change.kind))}::text[])
      as gone (partner_id, service_id, kind)
    where d.partner_id = gone.partner_id and d.service_id = gone.service_id and d.kind = gone.kind
      ${naming(part`d.partner_id`)}`
}
