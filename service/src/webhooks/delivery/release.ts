import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { mostAttemptsWithin } from '../endpoint/backoff.ts'
import type { HeldLease } from './result.ts'

/** A time in which an endpoint took nothing: from the first failure to the answer that ended it. */
export type Outage = { readonly from: Instant; readonly to: Instant }

/**
 * Releases what was tried in an outage, replays too: it need not wait for its retry date, and stands at its place in
 * age among what was held (contract §10). Whatever has spent more tries than fit into the outage failed before it, and
 * keeps its schedule: it may be what the endpoint never takes, and would spend all its tries on the outages it makes.
 * What was never tried is due already, as is what is parked, and neither is touched: the cost follows the tries made.
 */
export async function releaseAttempted(
  db: Executor,
  endpoint: { partnerId: string; endpointId: string },
  outage: Outage,
): Promise<void> {
  await db.query(sql`
    update deliveries set due_at = queued_at, work = case work when 'retry' then 'fresh' else work end
    where partner_id = ${endpoint.partnerId} and endpoint_id = ${endpoint.endpointId} and not parked
      and (work = 'retry' or work = 'replay' and due_at > ${timestamp(outage.from)})
      and attempts between 1 and ${mostAttemptsWithin(outage.to - outage.from)}`)
}

/** Whether the lease still holds; if so it is locked until the transaction ends. */
export async function lockLease(tx: Executor, owner: string, lease: HeldLease): Promise<boolean> {
  const rows = await tx.query(sql`
    select 1 from endpoint_leases
    where partner_id = ${lease.partnerId} and endpoint_id = ${lease.endpointId} and epoch = ${lease.epoch}
      and owner = ${owner}
    for update`)
  return rows.length > 0
}
