import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Partner } from '../partners/partner.ts'
import { moveRun, type Run } from './store.ts'

/** Who made the runs that no person made. */
export const SCHEDULE = 'schedule'

/** Lets a held run go: the next `feed run`, or the schedule, hands it over. False when somebody decided before. */
export function releaseRun(tx: Executor, run: Pick<Run, 'feed' | 'run'>, by: string): Promise<boolean> {
  return moveRun(tx, run, { from: 'held', status: 'made', by })
}

/**
 * Drops a held run: its lines were never sent, so they go, and everybody in them is compared again by the next run. False, and
 * nothing is done, when somebody decided before.
 */
export async function dropRun(
  tx: Executor,
  { feed, run }: Run,
  { partners, by }: { readonly partners: readonly Partner[]; readonly by: string },
): Promise<boolean> {
  // First, because a transaction runs where its first statement does, and only there are the runs of a cluster.
  if (!(await moveRun(tx, { feed, run }, { from: 'held', status: 'dropped', by }))) return false
  for (const { partnerId } of partners) {
    await tx.query(sql`
      delete from feed_seen s using (
        select distinct service_id from insurer_lines
        where partner_id = ${partnerId} and feed = ${feed} and run = ${run}) as told
      where s.partner_id = ${partnerId} and s.feed = ${feed} and s.service_id = told.service_id`)
    await tx.query(sql`
      delete from insurer_lines where partner_id = ${partnerId} and feed = ${feed} and run = ${run}`)
    await tx.query(sql`
      update insurer_farewells set feed = null, run = null, line = null
      where partner_id = ${partnerId} and feed = ${feed} and run = ${run}`)
  }
  return true
}
