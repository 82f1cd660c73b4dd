import type { Instant } from '../../calendar/calendar.ts'
import { inOneCell } from '../../db/by-cell.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import type { StoredLine, Who } from '../../membership/rules/history.ts'
import type { User } from '../../membership/rules/state.ts'

/** The names of a user. */
type UserNameRow = {
  partner_id: string
  service_id: string
  userid: string
  erased_at: Instant | null
  created_at: Instant
}

/** The user of a serviceid, among the users of these partners. */
export async function findUserRow(
  database: Database,
  partners: readonly string[],
  serviceId: string,
): Promise<UserNameRow | undefined> {
  const [row] = await inOneCell(database, partners, cell =>
    cell.query<UserNameRow>(sql`
      select partner_id, service_id, userid, erased_at, created_at from users
      where partner_id = any(${partners}::uuid[]) and service_id = ${serviceId}`),
  )
  return row
}

/** A row of `history`. */
export type StoredChange = {
  version: number
  at: Instant
  recorded_at: Instant
  who: Who
  lines: StoredLine[]
  event_ids: string[]
  actor: string | null
  request_id: string | null
}

/** The changes of a user before a version, newest first. */
export function readChanges(
  db: Executor,
  user: Pick<User, 'partnerId' | 'serviceId'>,
  { before, limit }: { before: number; limit: number },
): Promise<StoredChange[]> {
  return db.query<StoredChange>(sql`
    select version, at, recorded_at, who, lines, event_ids, actor, request_id from history
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId}
      and version < ${Math.min(before, MOST_VERSIONS)}
    order by version desc limit ${limit}`)
}

/** The highest possible version. */
const MOST_VERSIONS = 2 ** 31 - 1

/** A link that was made for a user, and its result. */
export type LinkRow = {
  session_id: string
  /** The operator who made it; null for a partner's. */
  made_by: string | null
  purpose: string
  delivery: string
  created_at: Instant
  token_expires_at: Instant
  spent_at: Instant | null
  revoked_at: Instant | null
  last_seen_at: Instant | null
  birthdate_tries: number
  birthdate_passed_at: Instant | null
  last_view: string | null
  signed_out_at: Instant | null
  outcome: string | null
  reference: string | null
}

/** The newest links of a user, up to 200. */
export function readLinks(db: Executor, user: Pick<User, 'partnerId' | 'userid'>): Promise<LinkRow[]> {
  return db.query<LinkRow>(sql`
    select session_id, made_by, purpose, delivery, created_at, token_expires_at, spent_at, revoked_at, last_seen_at,
      birthdate_tries, birthdate_passed_at, last_view, signed_out_at, outcome, reference
    from page_sessions where partner_id = ${user.partnerId} and userid = ${user.userid}
    order by created_at desc limit 200`)
}

/** The sessions that an operator's link opened for a user, with that operator's id. */
export function readOperatorLinks(
  db: Executor,
  { partnerId, userid }: Pick<User, 'partnerId' | 'userid'>,
): Promise<{ session_id: string; made_by: string }[]> {
  return db.query(sql`
    select session_id, made_by from page_sessions
    where partner_id = ${partnerId} and userid = ${userid} and made_by is not null`)
}

/** Whether one of these operators has been shown the birth date of a user, or an insurer's text that may have it, since then. */
export async function hasSeenBirthDate(
  db: Executor,
  { partnerId, serviceId }: Pick<User, 'partnerId' | 'serviceId'>,
  seen: { readonly by: readonly string[]; readonly since: Instant },
): Promise<boolean> {
  const rows = await db.query(sql`
    select from audit_log
    where partner_id = ${partnerId} and service_id = ${serviceId} and at >= ${timestamp(seen.since)}
      and actor_kind = 'operator' and actor = any(${seen.by}::text[]) and action in ('look at person', 'export user')
    limit 1`)
  return rows.length > 0
}

/** Whether an operator requested, performed or confirmed an erasure that was done. */
export async function tookPartInErasure(
  db: Executor,
  { partnerId, serviceId }: Pick<User, 'partnerId' | 'serviceId'>,
  operatorId: string,
): Promise<boolean> {
  const rows = await db.query(sql`
    select from audit_log
    where partner_id = ${partnerId} and service_id = ${serviceId} and actor_kind = 'operator' and actor = ${operatorId}
      and action in ('erase user', 'erase on request', 'confirm erase') and result = 'done' limit 1`)
  return rows.length > 0
}

/** An access to a user's data or an action on it, newest first. */
export type SeenRow = {
  at: Instant
  actor_kind: string
  actor: string
  action: string
  result: string
  sealed_reason: Buffer | null
  operator: string | null
}

/** The newest 100 entries of the audit log about a user. */
export function readSeen(
  db: Executor,
  { partnerId, serviceId }: Pick<User, 'partnerId' | 'serviceId'>,
  since: Instant,
): Promise<SeenRow[]> {
  return db.query<SeenRow>(sql`
    select a.at, a.actor_kind, a.actor, a.action, a.result, a.sealed_reason,
      (select o.name from operators o where a.actor_kind = 'operator' and o.operator_id::text = a.actor) as operator
    from audit_log a
    where a.partner_id = ${partnerId} and a.service_id = ${serviceId} and a.at >= ${timestamp(since)}
    order by a.entry_id desc limit 100`)
}
