import { booleans, integers, texts, timestamps, uuids } from '../../db/binary-array.ts'
import { type Query, sql } from '../../db/sql.ts'
import { ids, type UserIds } from '../records/user-ids.ts'
import type { Enrolment } from '../rules/state.ts'

/** An enrolment to write, and whose it is. */
export type ChangedEnrolment = { readonly user: UserIds; readonly enrolment: Enrolment }

/**
 * Splits enrolments into those that are voided, those that are closed, and those that are open, to be written in this
 * order, because the enrolments of one benefit must not overlap at any moment.
 */
export function inTurn(entries: readonly ChangedEnrolment[]): ChangedEnrolment[][] {
  return [0, 1, 2]
    .map(turn => entries.filter(({ enrolment }) => turnOf(enrolment) === turn))
    .filter(part => part.length > 0)
}

function turnOf({ state, closeReason }: Enrolment): number {
  return state === 'void' ? 0 : closeReason === undefined ? 2 : 1
}

/** Writes new and changed enrolments. */
export function saveEnrolments(entries: readonly ChangedEnrolment[]): Query {
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
