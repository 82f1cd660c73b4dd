import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import type { Rewritten } from '../db/rewrite-table.ts'
import { sql, timestamp } from '../db/sql.ts'

const AT_ONCE = 10_000

/**
 * Removes the remains of deleted data keys from the database's files by rewriting their table, for users who were
 * erased up to `erasedBefore`. Returns the number of users, and whether that were all: an open transaction that can
 * still see deleted rows keeps them in the file. Rejects when the table cannot be rewritten now.
 */
export async function scrubKeys(context: {
  database: Database
  rewrite: () => Promise<Rewritten>
  now: Instant
  erasedBefore: Instant
}): Promise<{ readonly count: number; readonly isDone: boolean }> {
  const { database, rewrite, now } = context
  let count = 0
  for (;;) {
    const erased = await database.query<{ partner_id: string; service_id: string }>(sql`
      select partner_id, service_id from erasures
      where scrubbed_at is null and erased_at <= ${timestamp(context.erasedBefore)}
      order by partner_id, service_id limit ${AT_ONCE}`)
    if (erased.length === 0) return { count, isDone: true }
    const { isTableClean } = await rewrite()
    if (!isTableClean) return { count, isDone: false }
    await database.query(sql`
      update erasures e set scrubbed_at = ${timestamp(now)}
      from unnest(${erased.map(row => row.partner_id)}::uuid[], ${erased.map(row => row.service_id)}::uuid[])
        as done (partner_id, service_id)
      where e.partner_id = done.partner_id and e.service_id = done.service_id`)
    count += erased.length
  }
}

/** When the earliest user was erased whose key may still be in the files; `undefined` when there is none. */
export async function earliestUnscrubbed(db: Executor): Promise<Instant | undefined> {
  const [row] = await db.query<{ earliest: Instant | null }>(sql`
    select min(erased_at) as earliest from erasures where scrubbed_at is null`)
  return row?.earliest ?? undefined
}
