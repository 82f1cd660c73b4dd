import type { Instant } from '../../calendar/calendar.ts'
import { columnOf } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { type Query, rowsOf, sql, timestamp } from '../../db/sql.ts'
import type { HistoryRow } from './batch-writes.ts'

/** Adds a row for each change. */
export function insertHistory(rows: readonly HistoryRow[], recordedAt: Instant, layout: Layout): Query {
  const added = rowsOf(layout, {
    partner_id: columnOf.uuid(rows.map(row => row.user.partnerId)),
    service_id: columnOf.uuid(rows.map(row => row.user.serviceId)),
    version: columnOf.integer(rows.map(row => row.version)),
    at: columnOf.instant(rows.map(row => row.at)),
    who: columnOf.text(rows.map(row => row.by.who)),
    lines: columnOf.document(rows.map(row => JSON.stringify(row.lines))),
    event_id: columnOf.uuid(rows.map(row => row.eventIds[0] ?? null)),
    // Most changes raise one event; reading a list of ids from its text costs 1 µs more.
    event_ids: columnOf.text(
      rows.map(row => (row.eventIds.length === 1 ? null : `{${row.eventIds.join()}}`)),
    ),
    actor: columnOf.text(rows.map(row => row.by.actor ?? null)),
    request_id: columnOf.uuid(rows.map(row => row.by.requestId ?? null)),
    reference: columnOf.text(rows.map(row => row.by.reference ?? null)),
  })
  return sql`
    insert into history (partner_id, service_id, version, at, recorded_at, who, lines, event_ids, actor, request_id,
      reference)
    select partner_id, service_id, version, at, ${timestamp(recordedAt)}::timestamptz, who, lines,
      coalesce(event_ids::uuid[], array[event_id]), actor, request_id, reference
    from ${added}`
}
