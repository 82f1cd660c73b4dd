import type { Instant } from '../../calendar/calendar.ts'
import { inAnsweringCells } from '../../db/by-cell.ts'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** How many processes of the service say that they live, and since when this copy is quiet. */
export type RunningInstallation = { processes: number; quiet_since: Instant | null }

/** Asks the database whether anything runs. */
export async function readInstallation(database: Database): Promise<RunningInstallation> {
  // By the database's clock, which set `until`. Each process has a dispatcher in each cell.
  const rows = await inAnsweringCells(database, cell =>
    cell.query<RunningInstallation>(sql`
    select (select count(*) from dispatchers where until > statement_timestamp())::integer as processes, quiet_since
    from installation`),
  )
  return {
    processes: Math.max(0, ...rows.map(row => row.processes)),
    quiet_since: rows[0]?.quiet_since ?? null,
  }
}
