import type { Instant } from '../../calendar/calendar.ts'
import { integers, uuids } from '../../db/binary-array.ts'
import { type Columns, column, listOf, namesOf, rowsOf, within } from '../../db/columns.ts'
import type { Layout } from '../../db/database.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import type { EventRow } from './batch-writes.ts'

/** An event, with its number among those of its partner and the number of the partner's log, from 1 on. */
type NumberedEvent = { readonly event: EventRow; readonly ordinal: number; readonly log: number }

const stored: Columns<EventRow> = {
  event_id: column.uuid(event => event.id),
  service_id: column.uuid(event => event.user.serviceId),
  userid: column.text(event => event.user.userid),
  eventname: column.text(event => event.eventname),
  body: column.bytes(event => event.body),
  data: column.json(event => event.data),
}
const ofOne: Columns<NumberedEvent> = {
  ordinal: column.integer(({ ordinal }) => ordinal),
  ...within(stored, ({ event }: NumberedEvent) => event),
}
const ofSeveral: Columns<NumberedEvent> = {
  partner_id: column.uuid(({ event }) => event.user.partnerId),
  log: column.integer(({ log }) => log),
  ...ofOne,
}

/** The events of one partner, in the order in which they were raised. */
type PartnerEvents = readonly [EventRow, ...EventRow[]]

/** Writes events and their deliveries. Every batch locks the logs of its partners in the same order, until its commit. */
export function saveEvents(events: readonly EventRow[], createdAt: Instant, layout: Layout): Query[] {
  const groups = byPartner(events)
  const [first, second] = groups
  if (!first) return []
  if (layout.isSpread) return groups.flatMap(group => insertEventsThere(group, createdAt, layout))
  return second
    ? [lockHeads(groups), insertEventsOfSeveral(groups, createdAt, layout)]
    : [insertEvents(first, createdAt, layout)]
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

function numbered(events: PartnerEvents, log = 0): NumberedEvent[] {
  return events.map((event, index) => ({ event, ordinal: index + 1, log: log + 1 }))
}

function partnerOf([first]: PartnerEvents): string {
  return first.user.partnerId
}

/**
 * Writes the events of one partner and their deliveries in one statement: an endpoint gets every event since its
 * creation. The head of the log stays locked until the commit, so that positions have the order of the commits.
 */
function insertEvents(rows: PartnerEvents, createdAt: Instant, layout: Layout): Query {
  const partnerId = partnerOf(rows)
  const count = rows.length
  return sql`
    with head as (
      update event_log_heads set last = last + ${count} where partner_id = ${partnerId} returning last
    ),
    added as (
      insert into events (partner_id, position, ${namesOf(stored)}, created_at)
      select ${partnerId}::uuid, (select last from head) - ${count} + ordinal, ${namesOf(stored)},
        ${timestamp(createdAt)}::timestamptz
      from ${rowsOf(layout, ofOne, numbered(rows))}
      returning event_id, service_id, position, eventname
    )
    insert into deliveries (partner_id, endpoint_id, event_id, service_id, position, due_at, queued_at, ordered)
    select ${partnerId}::uuid, w.endpoint_id, added.event_id, added.service_id, added.position,
      ${timestamp(createdAt)}::timestamptz, ${timestamp(createdAt)}::timestamptz, w.ordering = 'user'
    from added
    join webhook_endpoints w on w.partner_id = ${partnerId} and w.deleted_at is null
      and (w.all_events or added.eventname = any(w.events))`
}

/** Locks several logs in the order of their partners, so that no two batches each hold what the other waits for. */
function lockHeads(groups: readonly PartnerEvents[]): Query {
  return sql`
    select 1 from event_log_heads where partner_id = any (${uuids(groups.map(partnerOf))}::uuid[])
    order by partner_id for update`
}

/**
 * The same for the events of several partners, in one statement, because each statement costs 0.13 ms besides its rows.
 * `logs` holds the last position of each log before this batch, ordered by partner id. If a head is missing, the list is
 * null, every position is null, and the insert fails.
 */
function insertEventsOfSeveral(groups: readonly PartnerEvents[], createdAt: Instant, layout: Layout): Query {
  return sql`
    with raised as (
      update event_log_heads h set last = h.last + own.count
      from unnest(${uuids(groups.map(partnerOf))}::uuid[], ${integers(groups.map(group => group.length))}::integer[])
        as own (partner_id, count)
      where h.partner_id = own.partner_id
      returning h.partner_id, h.last - own.count as before
    ),
    logs as (
      select array_agg(before order by partner_id) as before from raised having count(*) = ${groups.length}
    ),
    added as (
      insert into events (partner_id, position, ${namesOf(stored)}, created_at)
      select partner_id, (select before from logs)[log] + ordinal, ${namesOf(stored)}, ${timestamp(createdAt)}::timestamptz
      from ${listOf(layout, ofSeveral, groups.flatMap(numbered))}
      returning partner_id, event_id, service_id, position, eventname
    )
    insert into deliveries (partner_id, endpoint_id, event_id, service_id, position, due_at, queued_at, ordered)
    select added.partner_id, w.endpoint_id, added.event_id, added.service_id, added.position,
      ${timestamp(createdAt)}::timestamptz, ${timestamp(createdAt)}::timestamptz, w.ordering = 'user'
    from added
    join webhook_endpoints w on w.partner_id = added.partner_id and w.deleted_at is null
      and (w.all_events or added.eventname = any(w.events))`
}

/**
 * The same on a cluster. One statement would collect the events at the coordinator and send them to every node, so this
 * uses three, each of which runs on the partner's own node.
 */
function insertEventsThere(rows: PartnerEvents, createdAt: Instant, layout: Layout): Query[] {
  const partnerId = partnerOf(rows)
  const count = rows.length
  const eventIds = uuids(rows.map(row => row.id))
  return [
    sql`
    update event_log_heads set last = last + ${count} where partner_id = ${partnerId}`,
    sql`
    insert into events (partner_id, position, ${namesOf(stored)}, created_at)
    select head.partner_id, head.last - ${count} + ordinal, ${namesOf(stored)}, ${timestamp(createdAt)}::timestamptz
    from event_log_heads head cross join ${listOf(layout, ofOne, numbered(rows))}
    where head.partner_id = ${partnerId}`,
    sql`
    insert into deliveries (partner_id, endpoint_id, event_id, service_id, position, due_at, queued_at, ordered)
    select e.partner_id, w.endpoint_id, e.event_id, e.service_id, e.position, ${timestamp(createdAt)}::timestamptz,
      ${timestamp(createdAt)}::timestamptz, w.ordering = 'user'
    from webhook_endpoints w
    join events e on e.partner_id = w.partner_id and (w.all_events or e.eventname = any(w.events))
    where w.partner_id = ${partnerId} and w.deleted_at is null
      and e.partner_id = ${partnerId} and e.event_id = any(${eventIds}::uuid[])`,
  ]
}
