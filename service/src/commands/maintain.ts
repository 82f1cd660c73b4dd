import { rewriteTable } from '../db/rewrite-table.ts'
import { scrubKeys } from '../schedule/scrub.ts'
import { dropOldAttempts, ensureAttemptDays } from '../webhooks/log/attempt-days.ts'
import type { Command } from './command.ts'
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
    onDatabase(input, 'take', async ({ database, address, real }) => {
      await reach(database, 'take')
      const made = await ensureAttemptDays(database, real(), DAYS_AHEAD)
      const dropped = await dropOldAttempts(database, real())
      // In the embedded database the command is PostgreSQL's superuser, so it can also switch to a new log file.
      const owner = 'url' in address ? address : { ...address, user: 'postgres' }
      const { count: scrubbed } = await scrubKeys({
        database,
        rewrite: () => rewriteTable(owner, 'data_keys'),
        now: real(),
        erasedBefore: real(),
      })
      input.print({ ok: true, daysmade: made, daysdropped: dropped, keysscrubbed: scrubbed }, [
        `The log of attempts has a partition for each of the next ${DAYS_AHEAD} days (${made} new, ${dropped} old ones dropped).`,
        `The keys of ${scrubbed} erased users have left the table's file.`,
      ])
    }),
}
