import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { UserName } from '../../membership/reading/load.ts'

/** The names of some current users of a partner, in the order of their serviceids, after the given one. */
export async function findUserNames(
  db: Executor,
  partnerId: string,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<(UserName & { readonly serviceId: string })[]> {
  const rows = await db.query<{ service_id: string; userid: string }>(sql`
    select service_id, userid from users
    where partner_id = ${partnerId} and service_id > ${after ?? firstId} and is_current and status <> 'erased'
    order by service_id limit ${limit}`)
  return rows.map(row => ({ partnerId, userid: row.userid, serviceId: row.service_id }))
}

const firstId = '00000000-0000-0000-0000-000000000000'
