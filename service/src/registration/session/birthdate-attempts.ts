import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { PageSessionRow, SessionName } from './store.ts'

/** How many wrong birth dates close a link (contract §11). */
export const MOST_ATTEMPTS_OF_LINK = 5
/** How many wrong birth dates all links of a user together allow within the period below. */
const MOST_ATTEMPTS_OF_USER = 10
/** For how long a wrong birth date counts against its user. */
export const ATTEMPTS_LAST_MS = 30 * DAY_MS

/** The user whose birth date is asked, and the link that asks it. */
type AttemptBy = SessionName & Pick<PageSessionRow, 'userid'>

/** How many attempts at the birth date a link has left, by its own count and by that of its user. */
export async function birthdateAttemptsLeft(db: Executor, by: AttemptBy, now: Instant): Promise<number> {
  const [row] = await db.query<{ left: number }>(sql`
    select least(
      ${MOST_ATTEMPTS_OF_LINK} - max(birthdate_tries) filter (where session_id = ${by.session_id}),
      ${MOST_ATTEMPTS_OF_USER} - coalesce(sum(birthdate_tries - (birthdate_passed_at is not null)::integer)
        filter (where birthdate_tried_at > ${timestamp(now - ATTEMPTS_LAST_MS)}), 0))::integer as left
    from page_sessions where partner_id = ${by.partner_id} and userid = ${by.userid}`)
  return Math.max(0, row?.left ?? 0)
}

/** Whether a user has used up the attempts at the birth date of all links together, so that no other link opens. */
export async function areBirthdateAttemptsSpent(
  db: Executor,
  user: Omit<AttemptBy, 'session_id'>,
  now: Instant,
): Promise<boolean> {
  const [row] = await db.query<{ tries: number }>(sql`
    select coalesce(sum(birthdate_tries - (birthdate_passed_at is not null)::integer), 0)::integer as tries
    from page_sessions where partner_id = ${user.partner_id} and userid = ${user.userid}
      and birthdate_tried_at > ${timestamp(now - ATTEMPTS_LAST_MS)}`)
  return (row?.tries ?? 0) >= MOST_ATTEMPTS_OF_USER
}

/**
 * Records an attempt at the birth date; returns how many are left after it, or `undefined` when none was left for it.
 * It locks the links of the user meanwhile, so that two links used at once get no more attempts than two used in turn.
 */
export function noteBirthdateAttempt(
  db: Database,
  by: AttemptBy,
  tried: { at: Instant; passed: boolean },
): Promise<number | undefined> {
  const at = timestamp(tried.at)
  return db.transaction(async tx => {
    await tx.query(sql`
      select 1 from page_sessions where partner_id = ${by.partner_id} and userid = ${by.userid}
      order by session_id for update`)
    const left = await birthdateAttemptsLeft(tx, by, tried.at)
    if (left === 0) return undefined
    const rows = await tx.query(sql`
      update page_sessions set birthdate_tries = birthdate_tries + 1, birthdate_tried_at = ${at},
        birthdate_passed_at = ${tried.passed ? at : null}
      where partner_id = ${by.partner_id} and session_id = ${by.session_id} and birthdate_passed_at is null
      returning 1`)
    return rows.length > 0 ? left - 1 : undefined
  })
}

/** Ends a link after too many wrong birth dates; the partner can learn this by the session's id. */
export async function failChallenge(db: Executor, name: SessionName, at: Instant): Promise<void> {
  await db.query(sql`
    update page_sessions set outcome = 'challengefailed', completed_at = ${timestamp(at)},
      revoked_at = coalesce(revoked_at, ${timestamp(at)})
    where partner_id = ${name.partner_id} and session_id = ${name.session_id} and outcome is null
      and birthdate_passed_at is null`)
}
