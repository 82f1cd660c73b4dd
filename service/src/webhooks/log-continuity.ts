import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** How many numbers are left out where the sequence of events has fallen behind: more than are ever drawn at once. */
const SEQUENCE_GAP = 1_000_000

/**
 * Makes the event log go on behind its last event, and says whether it had to. An event stands where its
 * transaction's id puts it. A database that was restored into another server, or replicated to it, brings events from
 * positions that the transactions of that server have yet to reach: new events would stand before them, behind
 * cursors that were given out. The ids are then counted on from a higher offset. Old events stay where they are, so
 * that cursors stay true; only what was written there before anybody noticed moves behind them.
 *
 * No writer may be between its position and its commit meanwhile, so the events are locked, for some milliseconds and
 * only where there is something to do. Safe to run twice, and by several processes at once.
 */
export const continueLog = async (database: Database): Promise<boolean> => {
  const [state] = await database.query<{ is_behind: boolean | null }>(sql`
    select max(log_position) >= log_limit()
      or max(sequence_number) > (select last_value from events_sequence_number_seq) as is_behind
    from newest_events`)
  if (!state?.is_behind) return false
  return database.transaction(async tx => {
    // By itself, so that the next statement sees what was committed while it waited.
    await tx.query(sql`lock table events in exclusive mode`)
    await tx.query(sql`
      select setval('events_sequence_number_seq', max(sequence_number) + ${SEQUENCE_GAP}) from newest_events
      having max(sequence_number) > (select last_value from events_sequence_number_seq)`)
    const raised = await tx.query(sql`
      update installation
      set log_offset = newest.log_position + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
      from (select max(log_position) as log_position from newest_events) newest
      where newest.log_position >= log_limit()
      returning 1`)
    if (raised.length === 0) return false
    await tx.query(sql`
      update events late set log_position = log_position()
      from newest_events newest
      where late.partner_id = newest.partner_id and late.event_id > newest.event_id
        and late.log_position < newest.log_position`)
    return true
  })
}
