import { type Columns, column, namesOf, rowsOf, within } from '../../db/columns.ts'
import { type Query, sql } from '../../db/sql.ts'
import { userKey } from '../records/user-ids.ts'
import type { HistoryRow } from './batch-writes.ts'

const before: Columns<HistoryRow> = {
  ...within(userKey, ({ user }: HistoryRow) => user),
  version: column.integer(row => row.version),
  at: column.instant(row => row.at),
  recorded_at: column.instant(row => row.recordedAt),
  who: column.text(row => row.by.who),
  lines: column.json(row => row.lines),
}
const after: Columns<HistoryRow> = {
  actor: column.text(row => row.by.actor),
  request_id: column.uuid(row => row.by.requestId),
  reference: column.text(row => row.by.reference),
}
const history: Columns<HistoryRow> = {
  ...before,
  event_id: column.uuid(row => row.eventIds[0]),
  // Most changes raise one event; reading a list of ids from its text costs 1 µs more.
  event_ids: column.text(row => (row.eventIds.length === 1 ? undefined : `{${row.eventIds.join()}}`)),
  ...after,
}

/** Adds a row for each change. */
export function insertHistory(rows: readonly HistoryRow[]): Query {
  return sql`
    insert into history (${namesOf(before)}, event_ids, ${namesOf(after)})
    select ${namesOf(before)}, coalesce(event_ids::uuid[], array[event_id]), ${namesOf(after)}
    from ${rowsOf(history, rows)}`
}
