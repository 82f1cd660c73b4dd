import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { moveRun, type Run } from './store.ts'

/** Who made the runs that no person made. */
export const SCHEDULE = 'schedule'

/**
 * What it does when a person lets a held run go: it is released, or only asked for, which another person then confirms;
 * `own`: this person made it, or asked for it. `names` are all names by which the person is known.
 */
export function releaseBy(
  { madeBy, askedBy }: Pick<Run, 'madeBy' | 'askedBy'>,
  names: ReadonlySet<string>,
  needsSecond: boolean,
): 'release' | 'ask' | 'own' {
  if (!needsSecond) return 'release'
  const first = askedBy ?? (madeBy === SCHEDULE ? undefined : madeBy)
  if (first === undefined) return 'ask'
  return names.has(first) ? 'own' : 'release'
}

/** Lets a held run go: the next `feed run`, or the schedule, hands it over. False when somebody decided before. */
export function releaseRun(tx: Executor, run: Pick<Run, 'feed' | 'run'>, by: string): Promise<boolean> {
  return moveRun(tx, run, { from: 'held', status: 'made', by })
}

/** Notes who asked to let a held run go. False when somebody asked or decided before. */
export async function askRelease(
  tx: Executor,
  { feed, run }: Pick<Run, 'feed' | 'run'>,
  by: string,
): Promise<boolean> {
  const rows = await tx.query(sql`
    update feed_runs set asked_by = ${by}
    where feed = ${feed} and run = ${run} and status = 'held' and asked_by is null returning 1`)
  return rows.length > 0
}
