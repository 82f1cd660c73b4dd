import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { NIL_UUID, uuidv7 } from '../../vault/uuid.ts'
import { eventBody } from '../egress/envelope.ts'
import type { NamedEndpoint } from './endpoint.ts'

/** The userid of notices about endpoints, which are about nobody. */
export const NOTICE_USERID = 'webhook-notice'

/** What the partner's other endpoints are told about one (contract §10): since when, and why. */
export type Notice = {
  readonly eventname: 'webhook_failing' | 'webhook_disabled' | 'webhook_recovered'
  readonly since: Instant
  readonly reason: string
}

const REPORTED = {
  webhook_failing: 'failing',
  webhook_disabled: 'disabled',
  webhook_recovered: null,
} as const

/**
 * Raises a notice in the partner's log and for its other endpoints that ask for it, in the transaction of the change that
 * it tells; what was told already is not told again. `webhook_recovered` says since when the trouble lasted that was told.
 */
export async function raiseNotice(
  tx: Executor,
  { partnerId, endpointId }: NamedEndpoint,
  notice: Notice,
  now: Instant,
): Promise<void> {
  const { eventname, reason } = notice
  const [told] = await tx.query<{
    reported: 'failing' | 'disabled' | null
    reported_since: Instant | null
  }>(sql`
    select reported, reported_since from endpoint_health
    where partner_id = ${partnerId} and endpoint_id = ${endpointId} for update`)
  if (!told || !isNews(eventname, told.reported)) return
  const since = told.reported_since ?? notice.since
  const keptSince = eventname === 'webhook_recovered' ? null : timestamp(since)
  await tx.query(sql`
    update endpoint_health set reported = ${REPORTED[eventname]}::text, reported_since = ${keptSince}::timestamptz
    where partner_id = ${partnerId} and endpoint_id = ${endpointId}`)
  const eventId = uuidv7(now)
  const updatedat = formatTimestamp(now)
  const body = eventBody({ userid: NOTICE_USERID, eventname, offer: '', updatedat, serviceid: NIL_UUID })
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

function isNews(eventname: Notice['eventname'], reported: 'failing' | 'disabled' | null): boolean {
  if (eventname === 'webhook_disabled') return reported !== 'disabled'
  return eventname === 'webhook_failing' ? reported === null : reported !== null
}
