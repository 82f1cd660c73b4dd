import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { mostTriesWithin } from './backoff.ts'
import type { Claim } from './results.ts'

/**
 * Releases what was tried in an outage of this length: it need not wait for its retry date, and stands at its place in
 * age among what was held (contract §10). Whatever has spent more tries than fit into the outage failed before it, and
 * keeps its schedule: it may be what the endpoint never takes, and would spend all its tries on the outages it makes.
 * What was never tried is due already and is not touched, so the cost follows the tries made.
 */
export const releaseTried = async (
  db: Executor,
  endpoint: { partnerId: string; endpointId: string },
  outageMs: number,
): Promise<void> => {
  await db.query(sql`
    update deliveries set work = 'fresh', due_at = queued_at
    where partner_id = ${endpoint.partnerId} and endpoint_id = ${endpoint.endpointId} and work = 'retry'
      and attempts <= ${mostTriesWithin(outageMs)}`)
}

/** Whether the lease still holds; if so it is locked until the transaction ends. */
export const lockLease = async (tx: Executor, owner: string, claim: Claim): Promise<boolean> => {
  const rows = await tx.query(sql`
    select 1 from endpoint_leases
    where partner_id = ${claim.partnerId} and endpoint_id = ${claim.endpointId} and epoch = ${claim.epoch}
      and owner = ${owner}
    for update`)
  return rows.length > 0
}
