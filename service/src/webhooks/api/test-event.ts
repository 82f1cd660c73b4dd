import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { NIL_UUID, uuidv7 } from '../../vault/uuid.ts'
import { eventBody } from '../egress/envelope.ts'
import { TEST_USERID } from '../log/event-log.ts'

/** Raises a `webhook_test` for one endpoint, whatever events it subscribes to (contract §10); returns the event's id. */
export async function raiseTest(
  tx: Executor,
  { partnerId, endpointId, now }: { partnerId: string; endpointId: string; now: Instant },
): Promise<string> {
  const eventId = uuidv7(now)
  const body = eventBody({
    userid: TEST_USERID,
    eventname: 'webhook_test',
    offer: '',
    updatedat: formatTimestamp(now),
    serviceid: NIL_UUID,
  })
  // Three statements, as Citus would take the rows of one from node to node by way of the coordinator and ask all of them.
  await tx.query(sql`update event_log_heads set last = last + 1 where partner_id = ${partnerId}`)
  await tx.query(sql`
    insert into events (partner_id, position, event_id, service_id, userid, eventname, body, created_at)
    select partner_id, last, ${eventId}::uuid, ${NIL_UUID}::uuid, ${TEST_USERID}, 'webhook_test', ${body}::bytea,
      ${timestamp(now)}::timestamptz
    from event_log_heads where partner_id = ${partnerId}`)
  await tx.query(sql`
    insert into deliveries (partner_id, event_id, endpoint_id, service_id, position, due_at, queued_at)
    select partner_id, event_id, ${endpointId}::uuid, service_id, position, created_at, created_at
    from events where partner_id = ${partnerId} and event_id = ${eventId}`)
  return eventId
}
