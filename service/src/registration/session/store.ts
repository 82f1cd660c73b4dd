import type { SessionOutcome } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { Language } from '../../catalogue/model.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'

/** What a person last did on the page; the API reports a session without one as `exited`. */
export type PageOutcome = Exclude<SessionOutcome, 'exited' | 'challengefailed'>

/** The stored values of a new link token. */
type NewLink = {
  partner_id: string
  session_id: string
  userid: string
  purpose: 'registration' | 'benefits' | 'swap' | 'offerchange'
  offername: string | null
  deeplinkdata: string | null
  redirecturl: string | null
  origins: string[]
  /** Null until it is opened, if the link names none. */
  locale: Language | null
  delivery: 'embed' | 'hosted' | 'sms' | 'email'
  token_pepper_id: string
  token_hash: Buffer
  created_at: Instant
  token_expires_at: Instant
  /** The operator who made it; null for a partner's. */
  made_by: string | null
}

/** A row of `page_sessions`. */
export type PageSessionRow = NewLink & {
  service_id: string | null
  spent_at: Instant | null
  revoked_at: Instant | null
  handle_pepper_id: string | null
  handle_hash: Buffer | null
  last_seen_at: Instant | null
  birthdate_tries: number
  birthdate_passed_at: Instant | null
  last_view: string | null
  signed_out_at: Instant | null
  birthdate_tried_at: Instant | null
  outcome: PageOutcome | 'challengefailed' | null
  reference: string | null
  completed_at: Instant | null
  result_pepper_id: string | null
  result_hash: Buffer | null
}

/** The name of a session, which its secrets contain. */
export type SessionName = Pick<PageSessionRow, 'partner_id' | 'session_id'>

/** Stores a link token. */
export async function insertLink(db: Executor, link: NewLink): Promise<void> {
  await db.query(sql`
    insert into page_sessions (partner_id, session_id, userid, purpose, offername, deeplinkdata, redirecturl, origins,
      locale, delivery, token_pepper_id, token_hash, created_at, token_expires_at, made_by)
    values (${link.partner_id}, ${link.session_id}, ${link.userid}, ${link.purpose}, ${link.offername},
      ${link.deeplinkdata}, ${link.redirecturl}, ${link.origins}::text[], ${link.locale}, ${link.delivery},
      ${link.token_pepper_id}, ${link.token_hash}, ${timestamp(link.created_at)}, ${timestamp(link.token_expires_at)},
      ${link.made_by})`)
}

/** The session of a name, or `undefined`. */
export async function findSession(db: Executor, name: SessionName): Promise<PageSessionRow | undefined> {
  const [row] = await db.query<PageSessionRow>(sql`
    select * from page_sessions where partner_id = ${name.partner_id} and session_id = ${name.session_id}`)
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
    where partner_id = ${name.partner_id} and session_id = ${name.session_id} returning revoked_at`)
  return row?.revoked_at
}

/** Ends a session at the person's request. */
export async function signOut(db: Executor, name: SessionName, at: Instant): Promise<void> {
  await db.query(sql`
    update page_sessions set signed_out_at = coalesce(signed_out_at, ${timestamp(at)}),
      revoked_at = coalesce(revoked_at, ${timestamp(at)})
    where partner_id = ${name.partner_id} and session_id = ${name.session_id}`)
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
    locale: Language
    /** Counts only where the link itself has none. */
    deeplinkdata: string | null
  },
): Promise<boolean> {
  const rows = await db.query(sql`
    update page_sessions set spent_at = ${timestamp(session.at)}, last_seen_at = ${timestamp(session.at)},
      handle_pepper_id = ${session.pepperId}, handle_hash = ${session.handleHash},
      result_pepper_id = case when ${session.resultHash}::bytea is null then null else ${session.pepperId} end,
      result_hash = ${session.resultHash}, locale = ${session.locale},
      deeplinkdata = coalesce(deeplinkdata, ${session.deeplinkdata})
    where partner_id = ${name.partner_id} and session_id = ${name.session_id}
      and spent_at is null and revoked_at is null and token_expires_at > ${timestamp(session.at)}
    returning 1`)
  return rows.length > 0
}

/** Binds a session to the user that it created. */
export async function bindSession(db: Executor, name: SessionName, serviceId: string): Promise<void> {
  await db.query(sql`
    update page_sessions set service_id = ${serviceId}
    where partner_id = ${name.partner_id} and session_id = ${name.session_id}`)
}

/** Remembers the language that the person chose: for this session, and for their next link. */
export async function setLocale(db: Database, session: PageSessionRow, locale: Language): Promise<void> {
  await db.transaction(async tx => {
    await tx.query(sql`
      update page_sessions set locale = ${locale}
      where partner_id = ${session.partner_id} and session_id = ${session.session_id}`)
    await rememberLanguage(tx, session, locale)
  })
}

/** Keeps the language that a person chose with their userid; not once the session is gone, as an erasure deletes both. */
export async function rememberLanguage(
  db: Executor,
  { partner_id, session_id }: SessionName,
  locale: Language,
): Promise<void> {
  await db.query(sql`
    insert into page_languages (partner_id, userid, locale)
    select partner_id, userid, ${locale}::text from page_sessions
    where partner_id = ${partner_id} and session_id = ${session_id} for share
    on conflict (partner_id, userid) do update set locale = excluded.locale`)
}

/** The language that a person chose last, or `undefined`. */
export async function languageOf(
  db: Executor,
  { partner_id, userid }: Pick<PageSessionRow, 'partner_id' | 'userid'>,
): Promise<Language | undefined> {
  const [row] = await db.query<{ locale: Language }>(sql`
    select locale from page_languages where partner_id = ${partner_id} and userid = ${userid}`)
  return row?.locale
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
    where partner_id = ${name.partner_id} and session_id = ${name.session_id}
      and (outcome, reference) is distinct from (${result.outcome}, ${result.reference})`)
}

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
