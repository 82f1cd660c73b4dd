import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import { inAllCells } from '../../db/by-cell.ts'
import type { Database } from '../../db/database.ts'
import { openTasks } from '../../db/each-task.ts'
import { sql, timestamp } from '../../db/sql.ts'
import { ATTEMPTS_LAST_MS } from './birthdate-attempts.ts'

/**
 * How many links, sessions and results that can still be used are hashed with each pepper, by the pepper's id. A link
 * is of use for nine days at most: seven to be opened, one as a session, one for its result.
 */
export async function sessionsByPepper(
  database: Database,
  now: Instant,
): Promise<ReadonlyMap<string, number>> {
  const at = timestamp(now)
  const rows = await inAllCells(database, cell =>
    cell.query<{ pepper_id: string; count: number }>(sql`
    select live.pepper_id, count(*) as count from partners p
    cross join lateral (
      select unnest(array[
        case when s.token_expires_at > ${at} and s.spent_at is null and s.revoked_at is null
          or s.spent_at > ${at}::timestamptz - interval '1 minute' then s.token_pepper_id end,
        case when s.spent_at > ${at}::timestamptz - interval '24 hours' then s.handle_pepper_id end,
        case when coalesce(s.completed_at, s.spent_at) > ${at}::timestamptz - interval '24 hours'
          then s.result_pepper_id end]) as pepper_id
      from page_sessions s
      where s.partner_id = p.partner_id and s.created_at > ${at}::timestamptz - interval '9 days') as live
    where live.pepper_id is not null
    group by live.pepper_id`),
  )
  const use = new Map<string, number>()
  for (const { pepper_id, count } of rows) use.set(pepper_id, (use.get(pepper_id) ?? 0) + count)
  return use
}

const KEPT_MS = 30 * DAY_MS

/**
 * Deletes links and sessions that are older than 30 days, at most 10,000 of each partner at once. If a birth date was
 * tried, the 30 days begin with that attempt.
 */
export async function deleteOldSessions(db: Database, now: Instant): Promise<void> {
  const atMost = 10_000
  const partners = await db.query<{ partner_id: string }>(
    sql`select partner_id from partners where cell = ${db.cell}`,
  )
  const tasks = openTasks()
  for (const { partner_id: partnerId } of partners)
    await tasks.run(() =>
      db.query(sql`
      delete from page_sessions
      where partner_id = ${partnerId} and session_id = any (array(
        select session_id from page_sessions
        where partner_id = ${partnerId} and created_at <= ${timestamp(now - KEPT_MS)}
          and (birthdate_tried_at is null or birthdate_tried_at <= ${timestamp(now - ATTEMPTS_LAST_MS)})
        order by created_at limit ${atMost}))`),
    )
  tasks.end()
}
