import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** How many processes of the service say that they live, and since when this copy is quiet. */
export type RunningInstallation = { processes: number; quiet_since: Instant | null }

/** Asks the database whether anything runs. */
export async function readInstallation(db: Executor): Promise<RunningInstallation> {
  // By the database's clock, which set `until`.
  const [row] = await db.query<RunningInstallation>(sql`
    select (select count(*) from dispatchers where until > clock_timestamp())::integer as processes, quiet_since
    from installation`)
  return row ?? { processes: 0, quiet_since: null }
}
