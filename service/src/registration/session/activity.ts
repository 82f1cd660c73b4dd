import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { SessionName } from './store.ts'

/** Stores when a session was last used. */
export async function touchSession(db: Executor, name: SessionName, at: Instant): Promise<void> {
  await db.query(sql`
    update page_sessions set last_seen_at = greatest(last_seen_at, ${timestamp(at)})
    where partner_id = ${name.partner_id} and session_id = ${name.session_id}`)
}

/** Stores the view that a session was shown last. */
export async function setLastView(
  db: Executor,
  name: SessionName,
  { view, at }: { view: string; at: Instant },
): Promise<void> {
  await db.query(sql`
    update page_sessions set last_view = ${view}, last_seen_at = greatest(last_seen_at, ${timestamp(at)})
    where partner_id = ${name.partner_id} and session_id = ${name.session_id}`)
}
