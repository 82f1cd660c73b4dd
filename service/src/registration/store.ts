import type { SessionOutcome } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** What the page did last; the wire knows `undone` as `changed`, and nothing as `exited`. */
export type PageOutcome = Exclude<SessionOutcome, 'exited'> | 'undone'

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
  locale: 'en' | 'es'
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
  appearance: unknown
  outcome: PageOutcome | null
  reference: string | null
  completed_at: Instant | null
  result_pepper_id: string | null
  result_hash: Buffer | null
}

/** What a new link token is stored with. */
export type NewLink = Pick<
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

/** Names a session as its secrets do. */
export type SessionName = { readonly partnerId: string; readonly sessionId: string }

/** Stores a link token. */
export const insertLink = async (db: Executor, link: NewLink): Promise<void> => {
  await db.query(sql`
    insert into page_sessions (partner_id, session_id, userid, purpose, offername, deeplinkdata, redirecturl, origins,
      locale, delivery, token_pepper_id, token_hash, created_at, token_expires_at)
    values (${link.partner_id}, ${link.session_id}, ${link.userid}, ${link.purpose}, ${link.offername},
      ${link.deeplinkdata}, ${link.redirecturl}, ${link.origins}::text[], ${link.locale}, ${link.delivery},
      ${link.token_pepper_id}, ${link.token_hash}, ${timestamp(link.created_at)}, ${timestamp(link.token_expires_at)})`)
}

/** The session of a name, or `undefined`. */
export const findSession = async (db: Executor, name: SessionName): Promise<PageSessionRow | undefined> => {
  const [row] = await db.query<PageSessionRow>(sql`
    select * from page_sessions where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
  return row
}

/** Revokes a link and its session; gives when that first happened, or `undefined` when there is none. */
export const revokeSession = async (
  db: Executor,
  name: SessionName,
  at: Instant,
): Promise<Instant | undefined> => {
  const [row] = await db.query<{ revoked_at: Instant }>(sql`
    update page_sessions set revoked_at = coalesce(revoked_at, ${timestamp(at)})
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId} returning revoked_at`)
  return row?.revoked_at
}

/**
 * Spends a link token and starts its session, in one statement, so that of many who press at once one wins. Gives
 * false when it was spent, revoked or has expired.
 */
export const spendToken = async (
  db: Executor,
  name: SessionName,
  session: {
    at: Instant
    pepperId: string
    handleHash: Buffer
    resultHash: Buffer | null
    locale: 'en' | 'es' | null
  },
): Promise<boolean> => {
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

/** Notes that a session was used. */
export const touchSession = async (db: Executor, name: SessionName, at: Instant): Promise<void> => {
  await db.query(sql`
    update page_sessions set last_seen_at = greatest(last_seen_at, ${timestamp(at)})
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** Binds a session to the user it made. */
export const bindSession = async (db: Executor, name: SessionName, serviceId: string): Promise<void> => {
  await db.query(sql`
    update page_sessions set service_id = ${serviceId}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** Notes a try at the birth date; gives how many tries were made, or `undefined` when all are used up. */
export const noteBirthdateTry = async (
  db: Executor,
  name: SessionName,
  tried: { at: Instant; passed: boolean },
): Promise<number | undefined> => {
  const [row] = await db.query<{ birthdate_tries: number }>(sql`
    update page_sessions set birthdate_tries = birthdate_tries + 1,
      birthdate_passed_at = ${tried.passed ? timestamp(tried.at) : null}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId} and birthdate_tries < 5
      and birthdate_passed_at is null
    returning birthdate_tries`)
  return row?.birthdate_tries
}

/**
 * How many links, sessions and results that live are hashed under each pepper, by its id. A link serves nine days at
 * most: seven to be opened, one as a session, one for its result.
 */
export const sessionsByPepper = async (db: Executor, now: Instant): Promise<ReadonlyMap<string, number>> => {
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
export const setLocale = async (db: Executor, name: SessionName, locale: 'en' | 'es'): Promise<void> => {
  await db.query(sql`
    update page_sessions set locale = ${locale}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** Remembers the look of a session in the frame. */
export const setAppearance = async (db: Executor, name: SessionName, appearance: unknown): Promise<void> => {
  await db.query(sql`
    update page_sessions set appearance = ${JSON.stringify(appearance)}::jsonb
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}`)
}

/** Notes what a session did last; the same again, as of a button pressed twice, changes nothing. */
export const completeSession = async (
  db: Executor,
  name: SessionName,
  result: { outcome: PageOutcome; reference: string; at: Instant },
): Promise<void> => {
  await db.query(sql`
    update page_sessions set outcome = ${result.outcome}, reference = ${result.reference},
      completed_at = ${timestamp(result.at)}
    where partner_id = ${name.partnerId} and session_id = ${name.sessionId}
      and (outcome, reference) is distinct from (${result.outcome}, ${result.reference})`)
}

const keptMs = 30 * 86_400_000

/** Deletes links and sessions that are older than 30 days, at most 10,000 at once. */
export const deleteOldSessions = async (db: Executor, now: Instant): Promise<void> => {
  const atMost = 10_000
  await db.query(sql`
    delete from page_sessions s using (
      select old.partner_id, old.session_id from partners p
      cross join lateral (
        select partner_id, session_id from page_sessions
        where partner_id = p.partner_id and created_at <= ${timestamp(now - keptMs)}
        order by created_at limit ${atMost}) as old
      limit ${atMost}) as gone
    where s.partner_id = gone.partner_id and s.session_id = gone.session_id`)
}
