import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { NamedEndpoint } from './endpoint.ts'
import { mostAttemptsWithin, type Outage } from './verdict.ts'

/**
 * Makes the deliveries and replays that failed in an outage due now, in the order of their age (contract §10), instead of
 * when their next attempt was planned. A delivery with more attempts than fit into the outage has failed before it and
 * keeps its schedule: the endpoint may never accept it, and would fail again because of it. Deliveries without an attempt
 * are due already, and what is claimed or stands behind another stays as it is, so the cost grows with the number of
 * attempts in the outage.
 */
export async function releaseAttempted(db: Executor, endpoint: NamedEndpoint, outage: Outage): Promise<void> {
  // Not `case work when 'retry'`, which Citus hands to its nodes as `work = (work = 'retry')`.
  await db.query(sql`
    update deliveries set due_at = queued_at, work = case when work = 'retry' then 'fresh' else work end
    where partner_id = ${endpoint.partnerId} and endpoint_id = ${endpoint.endpointId} and held_from is null
      and (work = 'retry' or work = 'replay' and due_at > ${timestamp(outage.from)})
      and attempts between 1 and ${mostAttemptsWithin(outage.to - outage.from)}`)
}
