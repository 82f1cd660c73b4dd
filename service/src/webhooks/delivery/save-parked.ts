import type { Database } from '../../db/database.ts'
import { namingPartners, part, sql } from '../../db/sql.ts'
import type { Behind } from './result.ts'

/**
 * Parks deliveries until the earlier delivery to their user has ended. The statement looks for that delivery once more,
 * because it may have ended meanwhile, and locks its row until the parking is committed, so that it cannot end in
 * between. No deadlock can follow: a process writes results and parks one after the other, and the clean-up skips rows
 * that are locked.
 */
export async function parkDeliveries(
  db: Pick<Database, 'query' | 'layout'>,
  owner: string,
  rows: readonly Behind[],
): Promise<void> {
  const leases = [...new Map(rows.map(row => [row.endpointId, row])).values()]
  const partnerIds = leases.map(lease => lease.partnerId)
  const naming = namingPartners(db.layout.isSpread, partnerIds)
  await db.query(sql`
    with fence as (
      select l.partner_id, l.endpoint_id
      from endpoint_leases l
      join unnest(${partnerIds}::uuid[], ${leases.map(lease => lease.endpointId)}::uuid[],
        ${leases.map(lease => lease.epoch)}::bigint[]) as mine (partner_id, endpoint_id, epoch)
        on mine.partner_id = l.partner_id and mine.endpoint_id = l.endpoint_id and mine.epoch = l.epoch
      where l.owner = ${owner} ${naming(part`l.partner_id`)}
      order by l.partner_id, l.endpoint_id
      for update of l
    )
    update deliveries d set parked = true
    from unnest(${rows.map(row => row.partnerId)}::uuid[], ${rows.map(row => row.endpointId)}::uuid[],
      ${rows.map(row => row.eventId)}::uuid[]) as row (partner_id, endpoint_id, event_id)
    join fence using (partner_id, endpoint_id)
    where d.partner_id = row.partner_id and d.endpoint_id = row.endpoint_id and d.event_id = row.event_id
      ${naming(part`d.partner_id`)}
      and exists (
        select from deliveries earlier
        where earlier.partner_id = d.partner_id ${naming(part`earlier.partner_id`)}
          and earlier.endpoint_id = d.endpoint_id and earlier.service_id = d.service_id
          and earlier.position < d.position and earlier.ordered
        order by earlier.position limit 1
        for key share)`)
}
