import type { Command } from '@benefit-enrolment/command'
import { inEachCell } from '../db/by-cell.ts'
import type { Database } from '../db/database.ts'
import { rewriteTable } from '../db/rewrite-table.ts'
import { sql } from '../db/sql.ts'
import { OperatorError } from '../operator-error.ts'
import { scrubKeys } from '../schedule/scrub.ts'
import { dropOldAttempts, ensureAttemptDays } from '../webhooks/log/attempt-days.ts'
import { reach } from './reach.ts'
import { onDatabase } from './workspace.ts'

/** How many days ahead the log of attempts has partitions after a run. */
const DAYS_AHEAD = 60

/**
 * `enrolment maintain`: the work that only the owner of the tables may do, for services whose role has fewer rights.
 */
export const maintain: Command = {
  name: 'maintain',
  summary:
    'Do the work that only the owner of the tables may do; run it daily with a PostgreSQL of your own.',
  run: input =>
    onDatabase(input, { makes: false, starts: false }, async ({ database, address, real }) => {
      await reach(database, 'take')
      if (!(await ownsTables(database)))
        throw new OperatorError(
          'The user of DATABASE_URL does not own the tables, and only their owner may do this: run `enrolment maintain` as the owner. Nothing was done.',
        )
      const made = await inEachCell(database, cell => ensureAttemptDays(cell, real(), DAYS_AHEAD))
      const dropped = await inEachCell(database, cell => dropOldAttempts(cell, real()))
      // In the embedded database the command is PostgreSQL's superuser, so it can also switch to a new log file.
      const owner = 'url' in address ? address : { ...address, user: 'postgres' }
      let isDone = true
      const scrubbed = await inEachCell(database, async cell => {
        const scrub = await scrubKeys({
          database: cell,
          rewrite: () => rewriteTable(owner, { table: 'data_keys', cell: cell.cell }),
          now: real(),
          erasedBefore: real(),
        })
        if (!scrub.isDone) isDone = false
        return scrub.count
      })
      if (!isDone)
        throw new OperatorError(
          "Keys of erased users are still in their table's file, because an open transaction can see them: end it (`pg_stat_activity`, the oldest `xact_start`; on a cluster of each node), then run `enrolment maintain` again.",
        )
      input.print({ ok: true, daysmade: made, daysdropped: dropped, keysscrubbed: scrubbed }, [
        `The log of attempts has a partition for each of the next ${DAYS_AHEAD} days (${made} new, ${dropped} old ones dropped).`,
        `The keys of ${scrubbed} erased users have left the table's file.`,
      ])
    }),
}

/** Without this, PostgreSQL would leave out with a warning what only the owner may do, and the command would report success. */
async function ownsTables(database: Database): Promise<boolean> {
  const [cell = database] = database.cells()
  const [row] = await cell.query<{ owns: boolean }>(sql`
    select bool_and(pg_has_role(relowner, 'usage')) as owns from pg_class
    where oid in ('data_keys'::regclass, 'delivery_attempts'::regclass)`)
  return row?.owns === true
}
