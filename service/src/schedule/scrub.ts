import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Rewritten } from '../db/rewrite-table.ts'
import { sql, timestamp } from '../db/sql.ts'

const atOnce = 10_000

/**
 * Removes the remains of deleted data keys from the database's files by rewriting their table, for users who were
 * erased up to `erasedBefore`. Returns the number of users. Rejects when the table cannot be rewritten now.
 */
export async function scrubKeys(context: {
  database: Database
  rewrite: () => Promise<Rewritten>
  now: Instant
  erasedBefore: Instant
}): Promise<number> {
  const { database, rewrite, now } = context
  let count = 0
  for (;;) {
    const erased = await database.query<{ partner_id: string; service_id: string }>(sql`
      select partner_id, service_id from erasures
      where scrubbed_at is null and erased_at <= ${timestamp(context.erasedBefore)}
      order by partner_id, service_id limit ${atOnce}`)
    if (erased.length === 0) return count
    const { isTableClean } = await rewrite()
    // An open transaction can still see deleted rows; the next run tries again.
    if (!isTableClean) return count
    await database.query(sql`
      update erasures e set scrubbed_at = ${timestamp(now)}
      from unnest(${erased.map(row => row.partner_id)}::uuid[], ${erased.map(row => row.service_id)}::uuid[])
        as done (partner_id, service_id)
      where e.partner_id = done.partner_id and e.service_id = done.service_id`)
    count += erased.length
  }
}
