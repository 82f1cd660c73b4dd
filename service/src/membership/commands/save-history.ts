import type { Instant } from '../../calendar/calendar.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { type Query, rowsOf, sql, timestamp } from '../../db/sql.ts'
import type { HistoryRow } from './batch-writes.ts'

/** Adds a row for each change. */
export function insertHistory(rows: readonly HistoryRow[], recordedAt: Instant, layout: Layout): Query {
  const added = rowsOf(
    layout,
    columnOf.uuid(rows.map(row => row.user.partnerId)),
    columnOf.uuid(rows.map(row => row.user.serviceId)),
    columnOf.integer(rows.map(row => row.version)),
    columnOf.instant(rows.map(row => row.at)),
    columnOf.text(rows.map(row => row.who)),
    columnOf.document(
      rows.map(row => JSON.stringify(row.lines.map(line => [line.what, line.from, line.to, line.why]))),
    ),
    columnOf.text(rows.map(row => `{${row.eventIds.join()}}`)),
    columnOf.text(rows.map(row => row.actor ?? null)),
    columnOf.uuid(rows.map(row => row.requestId ?? null)),
    columnOf.text(rows.map(row => row.reference ?? null)),
  )
  return sql`
    insert into history (partner_id, service_id, version, at, recorded_at, who, lines, event_ids, actor, request_id,
      reference)
    select partner_id, service_id, version, at, ${timestamp(recordedAt)}::timestamptz, who, lines, event_ids::uuid[],
      actor, request_id, reference
    from ${added}
      as row (partner_id, service_id, version, at, who, lines, event_ids, actor, request_id, reference)`
}
