import { uuids } from '../../db/binary-array.ts'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Behind } from './result.ts'
import { lockedLeases, numbered } from './save-results.ts'

/**
 * Parks deliveries until the earlier delivery to their user has ended. The statement looks for that delivery once more,
 * because it may have ended meanwhile, and locks its row until the parking is committed, so that it cannot end in
 * between. No deadlock can follow: a process writes results and parks one after the other, and the clean-up skips rows
 * that are locked.
 */
export async function parkDeliveries(
  db: Pick<Database, 'query'>,
  owner: string,
  rows: readonly Behind[],
): Promise<void> {
  const leases = numbered(rows.map(({ lease }) => lease))
  await db.query(sql`
    with fence as (${lockedLeases(leases, owner)})
    update deliveries d set parked = true
    from unnest(${leases.numbersOf(rows)}::integer[], ${uuids(rows.map(row => row.eventId))}::uuid[]) as row (lease, event_id)
    join fence using (lease)
    where d.partner_id = fence.partner_id and d.endpoint_id = fence.endpoint_id and d.event_id = row.event_id
      and exists (
        select from deliveries earlier
        where earlier.partner_id = d.partner_id
          and earlier.endpoint_id = d.endpoint_id and earlier.service_id = d.service_id
          and earlier.position < d.position and earlier.ordered
        order by earlier.position limit 1
        for key share)`)
}
