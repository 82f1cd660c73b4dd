import type { Executor } from '../db/database.ts'
import { moveRun, type Run } from './store.ts'

/** Who made the runs that no person made. */
export const SCHEDULE = 'schedule'

/** Lets a held run go: the next `feed run`, or the schedule, hands it over. False when somebody decided before. */
export function releaseRun(tx: Executor, run: Pick<Run, 'feed' | 'run'>, by: string): Promise<boolean> {
  return moveRun(tx, run, { from: 'held', status: 'made', by })
}
