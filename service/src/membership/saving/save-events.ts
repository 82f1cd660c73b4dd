import type { Instant } from '../../calendar/calendar.ts'
import { integers, uuids } from '../../db/binary-array.ts'
import { type Columns, column, rowsOf } from '../../db/columns.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import type { EventRow } from './writes.ts'

/** An event, and how many come after it in the log of its partner, as a number below 1. */
type NumberedEvent = { readonly event: EventRow; readonly behind: number }

const named: Columns<NumberedEvent> = {
  partner_id: column.uuid(({ event }) => event.user.partnerId),
  behind: column.integer(({ behind }) => behind),
  event_id: column.uuid(({ event }) => event.id),
  service_id: column.uuid(({ event }) => event.user.serviceId),
  eventname: column.text(({ event }) => event.eventname),
}
const whole: Columns<NumberedEvent> = {
  ...named,
  userid: column.text(({ event }) => event.user.userid),
  body: column.bytes(({ event }) => event.body),
  data: column.json(({ event }) => event.data),
}

/** The events of one partner, in the order in which they were raised. */
type PartnerEvents = readonly [EventRow, ...EventRow[]]

/**
 * Writes events and their deliveries: an endpoint gets every event since its creation. The heads of the logs stay locked until
 * the commit, so that positions have the order of the commits. Every batch locks them in the same order.
 */
export function saveEvents(events: readonly EventRow[], createdAt: Instant): Query[] {
  const groups = byPartner(events)
  if (groups.length === 0) return []
  const rows = groups.flatMap(numbered)
  return [...moveHeads(groups), insertEvents(rows, createdAt), insertDeliveries(rows, createdAt)]
}

function byPartner(events: readonly EventRow[]): PartnerEvents[] {
  const groups = new Map<string, [EventRow, ...EventRow[]]>()
  for (const event of events) {
    const group = groups.get(event.user.partnerId)
    if (group) group.push(event)
    else groups.set(event.user.partnerId, [event])
  }
  return [...groups.values()].sort((a, b) => (partnerOf(a) < partnerOf(b) ? -1 : 1))
}

function numbered(events: PartnerEvents): NumberedEvent[] {
  return events.map((event, index) => ({ event, behind: index + 1 - events.length }))
}

function partnerOf([first]: PartnerEvents): string {
  return first.user.partnerId
}

/** Several heads are locked before they are moved, so that no two batches each hold what the other waits for. */
function moveHeads(groups: readonly PartnerEvents[]): Query[] {
  const [first, second] = groups
  if (first && !second)
    return [
      sql`update event_log_heads set last = last + ${first.length} where partner_id = ${partnerOf(first)}`,
    ]
  const partnerIds = uuids(groups.map(partnerOf))
  return [
    sql`
    select 1 from event_log_heads where partner_id = any (${partnerIds}::uuid[])
    order by partner_id for update`,
    sql`
    update event_log_heads h set last = h.last + own.count
    from unnest((select ${partnerIds}::uuid[]), ${integers(groups.map(group => group.length))}::integer[])
      as own (partner_id, count)
    where h.partner_id = own.partner_id`,
  ]
}

/** If a head is missing, the position is null, and the insert fails. */
function insertEvents(rows: readonly NumberedEvent[], createdAt: Instant): Query {
  return sql`
    insert into events (partner_id, event_id, position, service_id, userid, eventname, body, data, created_at)
    select row.partner_id, row.event_id, head.last + row.behind, row.service_id, row.userid, row.eventname, row.body,
      row.data, ${timestamp(createdAt)}::timestamptz
    from ${rowsOf(whole, rows)}
    left join event_log_heads head on head.partner_id = row.partner_id`
}

function insertDeliveries(rows: readonly NumberedEvent[], createdAt: Instant): Query {
  return sql`
    insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at, ordered)
    select row.partner_id, row.event_id, w.endpoint_id, row.service_id, head.last + row.behind,
      ${timestamp(createdAt)}::timestamptz, ${timestamp(createdAt)}::timestamptz, w.ordering = 'user'
    from ${rowsOf(named, rows)}
    join event_log_heads head on head.partner_id = row.partner_id
    join webhook_endpoints w on w.partner_id = row.partner_id and w.deleted_at is null
      and (w.all_events or row.eventname = any(w.events))`
}
