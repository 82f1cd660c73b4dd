import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { uuidv4, uuidv7 } from '../vault/uuid.ts'
import { eventBody } from './envelope.ts'

const NIL = '00000000-0000-0000-0000-000000000000'
const USERID = 'webhook-test'

/** Raises a `webhook_test` for one endpoint, whatever its filter (contract §10); gives the event's id. */
export const raiseTest = async (
  tx: Executor,
  { partnerId, endpointId, now }: { partnerId: string; endpointId: string; now: Instant },
): Promise<string> => {
  const eventId = uuidv7(now)
  const body = eventBody({
    userid: USERID,
    eventname: 'webhook_test',
    offer: '',
    updatedat: formatTimestamp(now),
    serviceid: NIL,
  })
  await tx.query(sql`
    with raised as (
      insert into events (partner_id, event_id, service_id, userid, eventname, idempotency_key, body, data, created_at)
      values (${partnerId}, ${eventId}, ${NIL}, ${USERID}, 'webhook_test', ${uuidv4()}, ${body}, '{}',
        ${timestamp(now)})
      returning partner_id, event_id, service_id, sequence_number, created_at
    )
    insert into deliveries (partner_id, event_id, endpoint_id, service_id, sequence_number, due_at, queued_at)
    select partner_id, event_id, ${endpointId}::uuid, service_id, sequence_number, created_at, created_at from raised`)
  return eventId
}
