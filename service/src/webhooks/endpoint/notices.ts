import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { NIL_UUID } from '../../vault/uuid.ts'
import { eventBody } from '../egress/envelope.ts'
import { NOTICE_USERID } from '../log/event-log.ts'
import { storeNotice } from '../log/store-notice.ts'
import type { NamedEndpoint } from './endpoint.ts'
import type { Notice } from './verdict.ts'

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
  const about = { userid: NOTICE_USERID, serviceid: NIL_UUID, offer: '' }
  const body = eventBody({ ...about, eventname, updatedat: formatTimestamp(now) })
  await storeNotice(tx, { partnerId, endpointId, eventname, body, since, reason }, now)
}

function isNews(eventname: Notice['eventname'], reported: 'failing' | 'disabled' | null): boolean {
  if (eventname === 'webhook_disabled') return reported !== 'disabled'
  return eventname === 'webhook_failing' ? reported === null : reported !== null
}
