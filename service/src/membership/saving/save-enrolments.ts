import { type Columns, listOf, namesOf, settingsOf, within } from '../../db/columns.ts'
import { type Query, sql } from '../../db/sql.ts'
import { type UserIds, userKey } from '../records/sealed.ts'
import { enrolments } from '../records/tables.ts'
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

const columns: Columns<ChangedEnrolment> = {
  ...within(userKey, ({ user }: ChangedEnrolment) => user),
  ...within(enrolments.columns, ({ enrolment }: ChangedEnrolment) => enrolment),
}
// The rest of an enrolment never changes.
const {
  enrolment_id: _,
  benefit: __,
  catalogue_version: ___,
  picked_at: ____,
  corrects: _____,
  ...changing
} = enrolments.columns

/** Writes new and changed enrolments. */
export function saveEnrolments(entries: readonly ChangedEnrolment[]): Query {
  return sql`
    insert into enrolments (${namesOf(columns)})
    select * from ${listOf(columns, entries)}
    on conflict (partner_id, service_id, enrolment_id) do update set ${settingsOf(changing, 'excluded')}`
}
