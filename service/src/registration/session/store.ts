import type { Locale, SessionOutcome } from '@benefit-enrolment/contract'
import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { openTasks } from '../../db/each-task.ts'
import { sql, timestamp } from '../../db/sql.ts'

/** What a person last did on the page; the API reports a session without one as `exited`. */
export type PageOutcome = Exclude<SessionOutcome, 'exited' | 'challengefailed'>

/** A row of `page_sessions`. */
export type PageSessionRow = {
  partner_id: string
  session_id: string
  userid: string
  service_id: string | null
  purpose: 'registration' | 'benefits' | 'swap' | 'offerchange'
  offername: string | null
  deeplinkdata: string | null
  redirecturl: string | null
  origins: string[]
  locale: Locale
  delivery: 'embed' | 'hosted' | 'sms' | 'email'
  token_pepper_id: string
  token_hash: Buffer
  created_at: Instant
  token_expires_at: Instant
  spent_at: Instant | null
  revoked_at: Instant | null
  handle_pepper_id: string | null
  handle_hash: Buffer | null
  last_seen_at: Instant | null
  birthdate_tries: number
  birthdate_passed_at: Instant | null
  birthdate_again_tries: number
  birthdate_again_at: Instant | null
  last_view: string | null
  dead_link_at: Instant | null
  signed_out_at: Instant | null
  appearance: unknown
  birthdate_tried_at: Instant | null
  outcome: PageOutcome | 'challengefailed' | null
  reference: string | null
  completed_at: Instant | null
  result_pepper_id: string | null
  result_hash: Buffer | null
}

/** The stored values of a new link token. */
type NewLink = Pick<
  PageSessionRow,
  | 'partner_id'
  | 'session_id'
  | 'userid'
  | 'purpose'
  | 'offername'
  | 'deeplinkdata'
  | 'redirecturl'
  | 'origins'
  | 'locale'
  | 'delivery'
  | 'token_pepper_id'
  | 'token_hash'
  | 'created_at'
  | 'token_expires_at'
>

/** The name of a session, which its secrets contain. */
export type SessionName = { readonly partnerId: string; readonly sessionId: string }

/** Stores a link token. */
export async function insertLink(db: Executor, link: NewLink): Promise<void> {
  await db.query(sql`
    insert into page_sessions (partner_id, session_id, userid, purpose, offername, deeplinkdata, redirecturl, origins,
      locale, delivery, token_pepper_id, token_hash, created_at, token_expires_at)
    values (${link.partner_id}, ${link.session_id}, ${link.userid}, ${link.purpose}, ${link.offername},
      ${link.deeplinkdata}, ${link.redirecturl}, ${link.origins}::text[], ${link.locale}, ${link.delivery},
      ${link.token_pepper_id}, ${link.token_hash}, ${timestamp(link.created_at)}, ${timestamp(link.token_expires_at)})`)
}

/** The session of a name, or `undefined`. */
export async function findSession(db: Executor, name: SessionName): Promise<PageSessionRow | undefined> {
  const [row] = await db.query<PageSessionRow>(sql`
    select * from page_sessions where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
  return row
}

/** Revokes a link and its session; returns when that first happened, or `undefined` when there is none. */
export async function revokeSession(
  db: Executor,
  name: SessionName,
  at: Instant,
): Promise<Instant | undefined> {
  const [row] = await db.query<{ revoked_at: Instant }>(sql`
    update page_sessions set revoked_at = coalesce(revoked_at, ${timestamp(at)})
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId} returning revoked_at`)
  return row?.revoked_at
}

/** Ends a session at the person's request. */
export async function signOut(db: Executor, name: SessionName, at: Instant): Promise<void> {
  await db.query(sql`
    update page_sessions set signed_out_at = coalesce(signed_out_at, ${timestamp(at)}),
      revoked_at = coalesce(revoked_at, ${timestamp(at)})
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/**
 * Uses a link token and starts its session in one statement, so that of many simultaneous requests only one succeeds.
 * Returns false when the token was used, was revoked or has expired.
 */
export async function spendToken(
  db: Executor,
  name: SessionName,
  session: {
    at: Instant
    pepperId: string
    handleHash: Buffer
    resultHash: Buffer | null
    locale: Locale | null
  },
): Promise<boolean> {
  const rows = await db.query(sql`
    update page_sessions set spent_at = ${timestamp(session.at)}, last_seen_at = ${timestamp(session.at)},
      handle_pepper_id = ${session.pepperId}, handle_hash = ${session.handleHash},
      result_pepper_id = case when ${session.resultHash}::bytea is null then null else ${session.pepperId} end,
      result_hash = ${session.resultHash}, locale = coalesce(${session.locale}, locale)
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}
      and spent_at is null and revoked_at is null and token_expires_at > ${timestamp(session.at)}
    returning 1`)
  return rows.length > 0
}

/** Binds a session to the user that it created. */
export async function bindSession(db: Executor, name: SessionName, serviceId: string): Promise<void> {
  await db.query(sql`
    update page_sessions set service_id = ${serviceId}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** How many wrong birth dates close a link (contract §11). */
export const MOST_TRIES_OF_LINK = 5
/** How many wrong birth dates all links of a user together allow within the period below. */
const MOST_TRIES_OF_USER = 10
const TRIES_LAST_MS = 30 * DAY_MS

/** The user whose birth date is asked, and the link that asks it. */
export type TriedBy = SessionName & { readonly userid: string }

/** How many attempts at the birth date a link has left, by its own count and by that of its user. */
export async function birthdateTriesLeft(db: Executor, by: TriedBy, now: Instant): Promise<number> {
  const [row] = await db.query<{ left: number }>(sql`
    select least(
      ${MOST_TRIES_OF_LINK} - max(birthdate_tries) filter (where session_id = ${by.sessionId}),
      ${MOST_TRIES_OF_USER} - coalesce(sum(birthdate_tries - (birthdate_passed_at is not null)::integer)
        filter (where birthdate_tried_at > ${timestamp(now - TRIES_LAST_MS)}), 0))::integer as left
    from page_sessions where partner_id = ${by.partnerId} and userid = ${by.userid}`)
  return Math.max(0, row?.left ?? 0)
}

/** Whether a user has used up the attempts at the birth date of all links together, so that no other link opens. */
export async function areBirthdateTriesSpent(
  db: Executor,
  user: Pick<TriedBy, 'partnerId' | 'userid'>,
  now: Instant,
): Promise<boolean> {
  const [row] = await db.query<{ tries: number }>(sql`
    select coalesce(sum(birthdate_tries - (birthdate_passed_at is not null)::integer), 0)::integer as tries
    from page_sessions where partner_id = ${user.partnerId} and userid = ${user.userid}
      and birthdate_tried_at > ${timestamp(now - TRIES_LAST_MS)}`)
  return (row?.tries ?? 0) >= MOST_TRIES_OF_USER
}

/**
 * Records an attempt at the birth date; returns how many are left after it, or `undefined` when none was left for it.
 * It locks the links of the user meanwhile, so that two links used at once get no more attempts than two used in turn.
 */
export function noteBirthdateTry(
  db: Database,
  by: TriedBy,
  tried: { at: Instant; passed: boolean },
): Promise<number | undefined> {
  const at = timestamp(tried.at)
  return db.transaction(async tx => {
    await tx.query(sql`
      select 1 from page_sessions where partner_id = ${by.partnerId} and userid = ${by.userid}
      order by session_id for update`)
    const left = await birthdateTriesLeft(tx, by, tried.at)
    if (left === 0) return undefined
    const rows = await tx.query(sql`
      update page_sessions set birthdate_tries = birthdate_tries + 1, birthdate_tried_at = ${at},
        birthdate_passed_at = ${tried.passed ? at : null}
      where partner_id = ${by.partnerId} and session_id = ${by.sessionId} and birthdate_passed_at is null
      returning 1`)
    return rows.length > 0 ? left - 1 : undefined
  })
}

/** Ends a link after too many wrong birth dates; the partner can learn this by the session's id. */
export async function failChallenge(db: Executor, name: SessionName, at: Instant): Promise<void> {
  await db.query(sql`
    update page_sessions set outcome = 'challengefailed', completed_at = ${timestamp(at)},
      revoked_at = coalesce(revoked_at, ${timestamp(at)})
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId} and outcome is null
      and birthdate_passed_at is null`)
}

/**
 * Records an attempt when the birth date is asked again; returns the attempts made, or `undefined` when all are used
 * up.
 */
export async function noteBirthdateAgain(
  db: Executor,
  name: SessionName,
  tried: { at: Instant; passed: boolean },
): Promise<number | undefined> {
  const [row] = await db.query<{ birthdate_again_tries: number }>(sql`
    update page_sessions set birthdate_again_tries = birthdate_again_tries + 1,
      birthdate_again_at = ${tried.passed ? timestamp(tried.at) : null}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId} and birthdate_again_tries < 5
      and birthdate_again_at is null
    returning birthdate_again_tries`)
  return row?.birthdate_again_tries
}

/**
 * How many links, sessions and results that can still be used are hashed with each pepper, by the pepper's id. A link
 * is of use for nine days at most: seven to be opened, one as a session, one for its result.
 */
export async function sessionsByPepper(db: Executor, now: Instant): Promise<ReadonlyMap<string, number>> {
  const at = timestamp(now)
  const rows = await db.query<{ pepper_id: string; count: number }>(sql`
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
    group by live.pepper_id`)
  return new Map(rows.map(row => [row.pepper_id, row.count]))
}

/** Remembers the language that the person chose. */
export async function setLocale(db: Executor, name: SessionName, locale: Locale): Promise<void> {
  await db.query(sql`
    update page_sessions set locale = ${locale}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** Remembers the appearance of a session in the frame. */
export async function setAppearance(db: Executor, name: SessionName, appearance: unknown): Promise<void> {
  await db.query(sql`
    update page_sessions set appearance = ${JSON.stringify(appearance)}::jsonb
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** Stores what a session did last; the same outcome again, as after pressing a button twice, changes nothing. */
export async function completeSession(
  db: Executor,
  name: SessionName,
  result: { outcome: PageOutcome; reference: string; at: Instant },
): Promise<void> {
  await db.query(sql`
    update page_sessions set outcome = ${result.outcome}, reference = ${result.reference},
      completed_at = ${timestamp(result.at)}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}
      and (outcome, reference) is distinct from (${result.outcome}, ${result.reference})`)
}

const KEPT_MS = 30 * DAY_MS

/**
 * Deletes links and sessions that are older than 30 days, at most 10,000 of each partner at once. If a birth date was
 * tried, the 30 days begin with that attempt.
 */
export async function deleteOldSessions(db: Executor, now: Instant): Promise<void> {
  const atMost = 10_000
  const partners = await db.query<{ partner_id: string }>(sql`select partner_id from partners`)
  const tasks = openTasks()
  for (const { partner_id: partnerId } of partners)
    await tasks.run(() =>
      db.query(sql`
      delete from page_sessions
      where partner_id = ${partnerId} and session_id = any (array(
        select session_id from page_sessions
        where partner_id = ${partnerId} and created_at <= ${timestamp(now - KEPT_MS)}
          and (birthdate_tried_at is null or birthdate_tried_at <= ${timestamp(now - TRIES_LAST_MS)})
        order by created_at limit ${atMost}))`),
    )
  tasks.end()
}
