import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { NIL_UUID, uuidv7 } from '../../vault/uuid.ts'
import { NOTICE_USERID } from './event-log.ts'

/** Stores a notice about one endpoint in the partner's log, with a delivery for each other endpoint that asks for it. */
export async function storeNotice(
  tx: Executor,
  notice: {
    partnerId: string
    endpointId: string
    eventname: string
    body: Buffer
    since: Instant
    reason: string
  },
  now: Instant,
): Promise<void> {
  const { partnerId, endpointId, eventname, body, since, reason } = notice
  const eventId = uuidv7(now)
  const data = JSON.stringify({ webhookid: endpointId, since: formatTimestamp(since), reason })
  // Three statements, as Citus would take the rows of one from node to node by way of the coordinator and ask all of them.
  await tx.query(sql`update event_log_heads set last = last + 1 where partner_id = ${partnerId}`)
  await tx.query(sql`
    insert into events (partner_id, position, event_id, service_id, userid, eventname, body, data, created_at)
    select partner_id, last, ${eventId}::uuid, ${NIL_UUID}::uuid, ${NOTICE_USERID}, ${eventname}, ${body}::bytea,
      ${data}::jsonb, ${timestamp(now)}::timestamptz
    from event_log_heads where partner_id = ${partnerId}`)
  await tx.query(sql`
    insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at)
    select e.partner_id, e.event_id, w.endpoint_id, e.service_id, e.position, e.created_at, e.created_at
    from webhook_endpoints w
    join events e on e.partner_id = w.partner_id and e.event_id = ${eventId}
    where w.partner_id = ${partnerId} and e.partner_id = ${partnerId} and w.endpoint_id <> ${endpointId}
      and w.deleted_at is null and (w.all_events or ${eventname} = any(w.events))`)
}
