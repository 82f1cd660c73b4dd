import { DAY_MS, type Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import type { Operator, Role } from './operator.ts'

type OperatorRow = {
  operator_id: string
  name: string
  role: Role
  partners: string[] | null
  created_at: Instant
  disabled_at: Instant | null
  issuer: string | null
  email: string | null
}

/** All operators by name, including disabled ones. */
export async function listOperators(db: Executor): Promise<Operator[]> {
  const rows = await db.query<OperatorRow>(sql`
    select operator_id, name, role, partners, created_at, disabled_at, issuer, email from operators order by name`)
  return rows.map(operatorOf)
}

/** The names of all operators by their ids. */
export async function operatorNames(db: Executor): Promise<ReadonlyMap<string, string>> {
  return new Map((await listOperators(db)).map(one => [one.operatorId, one.name]))
}

/** The operator of a name, or `undefined`. */
export async function findOperator(db: Executor, name: string): Promise<Operator | undefined> {
  const [row] = await db.query<OperatorRow>(sql`
    select operator_id, name, role, partners, created_at, disabled_at, issuer, email from operators where name = ${name}`)
  return row && operatorOf(row)
}

/** Stores a new operator; false when the name is taken, or its subject at the identity provider. */
export async function insertOperator(
  db: Executor,
  operator: Operator & { readonly subject?: string },
): Promise<boolean> {
  const rows = await db.query(sql`
    insert into operators (operator_id, name, role, partners, issuer, subject, email, created_at)
    values (${operator.operatorId}, ${operator.name}, ${operator.role}, ${operator.partners ?? null}::uuid[],
      ${operator.issuer ?? null}, ${operator.subject ?? null}, ${operator.email ?? null},
      ${timestamp(operator.createdAt)})
    on conflict do nothing returning 1`)
  return rows.length > 0
}

/** Disables an operator, ends its sessions and invalidates its links; false when the name is unknown. */
export async function disableOperator(db: Executor, name: string, at: Instant): Promise<boolean> {
  const rows = await db.query<{ operator_id: string }>(sql`
    update operators set disabled_at = coalesce(disabled_at, ${timestamp(at)}) where name = ${name}
    returning operator_id`)
  const [row] = rows
  if (!row) return false
  await endOperatorSessions(db, row.operator_id, at)
  await db.query(sql`
    update operator_links set spent_at = ${timestamp(at)}
    where operator_id = ${row.operator_id} and spent_at is null`)
  return true
}

/** Enables a disabled operator again; sessions and links that were ended stay ended. False when the name is unknown. */
export async function enableOperator(db: Executor, name: string): Promise<boolean> {
  const rows = await db.query(sql`update operators set disabled_at = null where name = ${name} returning 1`)
  return rows.length > 0
}

/**
 * The operators who are known to be the same person as this one, itself included: by the email, or by the subject at an
 * identity provider, whatever address that has now. A person whose two accounts share neither is taken for two people.
 */
export async function findSamePerson(db: Executor, operatorId: string): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ operator_id: string }>(sql`
    with recursive same (operator_id, email, subject) as (
      select operator_id, email, subject from operators where operator_id = ${operatorId}
      union
      select o.operator_id, o.email, o.subject
      from operators o join same on o.email = same.email or o.subject = same.subject)
    select operator_id from same`)
  return new Set([operatorId, ...rows.map(row => row.operator_id)])
}

/** A secret as it is stored: its keyed hash, and the pepper of that hash. */
export type Hashed = { readonly pepperId: string; readonly hash: Buffer }

/** A sign-in link that can still be used. */
export type OpenLink = Hashed & { readonly linkId: string; readonly operator: Operator }

/** Stores a sign-in link; earlier links of the operator become invalid. */
export async function insertLink(
  db: Executor,
  link: Hashed & { operatorId: string; linkId: string; at: Instant; expiresAt: Instant },
): Promise<void> {
  await db.query(sql`
    update operator_links set spent_at = ${timestamp(link.at)}
    where operator_id = ${link.operatorId} and spent_at is null`)
  await db.query(sql`
    insert into operator_links (operator_id, link_id, pepper_id, hash, created_at, expires_at)
    values (${link.operatorId}, ${link.linkId}, ${link.pepperId}, ${link.hash}, ${timestamp(link.at)},
      ${timestamp(link.expiresAt)})`)
}

/** The link of an id, unless it is used or expired or its operator is disabled. */
export async function findLink(db: Executor, linkId: string, at: Instant): Promise<OpenLink | undefined> {
  const [row] = await db.query<OperatorRow & { pepper_id: string; hash: Buffer }>(sql`
    select o.operator_id, o.name, o.role, o.partners, o.created_at, o.disabled_at, o.issuer, o.email,
      l.pepper_id, l.hash
    from operator_links l join operators o using (operator_id)
    where l.link_id = ${linkId} and l.spent_at is null and l.expires_at > ${timestamp(at)} and o.disabled_at is null`)
  return row && { linkId, operator: operatorOf(row), pepperId: row.pepper_id, hash: row.hash }
}

/**
 * Marks a link as used, in one statement, so that of two simultaneous requests only one succeeds; false when it was
 * used already.
 */
export async function spendLink(db: Executor, linkId: string, at: Instant): Promise<boolean> {
  const rows = await db.query(sql`
    update operator_links set spent_at = ${timestamp(at)} where link_id = ${linkId} and spent_at is null returning 1`)
  return rows.length > 0
}

/** An active session, with its operator's present rights. */
export type OperatorSession = Hashed & { readonly sessionId: string; readonly operator: Operator }

/** Stores a session. */
export async function insertOperatorSession(
  db: Executor,
  session: Hashed & { sessionId: string; operatorId: string; at: Instant; expiresAt: Instant },
): Promise<void> {
  await db.query(sql`
    insert into operator_sessions (session_id, operator_id, pepper_id, hash, created_at, expires_at)
    values (${session.sessionId}, ${session.operatorId}, ${session.pepperId}, ${session.hash}, ${timestamp(session.at)},
      ${timestamp(session.expiresAt)})`)
}

/** The session of an id, unless it has ended or expired or its operator is disabled. */
export async function findOperatorSession(
  db: Executor,
  sessionId: string,
  at: Instant,
): Promise<OperatorSession | undefined> {
  const [row] = await db.query<OperatorRow & { pepper_id: string; hash: Buffer }>(sql`
    select o.operator_id, o.name, o.role, o.partners, o.created_at, o.disabled_at, o.issuer, o.email,
      s.pepper_id, s.hash
    from operator_sessions s join operators o using (operator_id)
    where s.session_id = ${sessionId} and s.ended_at is null and s.expires_at > ${timestamp(at)}
      and o.disabled_at is null`)
  return row && { sessionId, operator: operatorOf(row), pepperId: row.pepper_id, hash: row.hash }
}

/** Ends a session. */
export async function endOperatorSession(db: Executor, sessionId: string, at: Instant): Promise<void> {
  await db.query(sql`
    update operator_sessions set ended_at = coalesce(ended_at, ${timestamp(at)}) where session_id = ${sessionId}`)
}

/** Ends every session of an operator. */
export async function endOperatorSessions(db: Executor, operatorId: string, at: Instant): Promise<void> {
  await db.query(sql`
    update operator_sessions set ended_at = ${timestamp(at)}
    where operator_id = ${operatorId} and ended_at is null`)
}

/** How many usable links and sessions depend on each pepper. */
export async function operatorsByPepper(db: Executor, at: Instant): Promise<ReadonlyMap<string, number>> {
  const rows = await db.query<{ pepper_id: string; count: number }>(sql`
    select pepper_id, count(*) as count from (
      select pepper_id from operator_links where spent_at is null and expires_at > ${timestamp(at)}
      union all
      select pepper_id from operator_sessions where ended_at is null and expires_at > ${timestamp(at)}) as live
    group by pepper_id`)
  return new Map(rows.map(row => [row.pepper_id, row.count]))
}

/** Deletes links and sessions that ended a month ago. */
export async function deleteOldSignIns(db: Executor, now: Instant): Promise<void> {
  const before = timestamp(now - KEPT_MS)
  await db.query(sql`delete from operator_links where expires_at < ${before}`)
  await db.query(sql`delete from operator_sessions where expires_at < ${before}`)
}

const KEPT_MS = 30 * DAY_MS

function operatorOf(row: OperatorRow): Operator {
  return {
    operatorId: row.operator_id,
    name: row.name,
    role: row.role,
    partners: row.partners ?? undefined,
    createdAt: row.created_at,
    disabledAt: row.disabled_at ?? undefined,
    issuer: row.issuer ?? undefined,
    email: row.email ?? undefined,
  }
}

/** Stores where operators reach the console, for the commands that print links to it. */
export async function writeConsoleUrl(db: Executor, url: string): Promise<void> {
  await db.query(sql`update installation set console_url = ${url} where console_url is distinct from ${url}`)
}

/** Where the console was last opened; `undefined` where it never was. */
export async function readConsoleUrl(db: Executor): Promise<string | undefined> {
  const [row] = await db.query<{ console_url: string | null }>(sql`select console_url from installation`)
  return row?.console_url ?? undefined
}

/** Stores where partners and people reach the service, for links that the console makes. */
export async function writeServiceUrl(db: Executor, url: string): Promise<void> {
  await db.query(sql`update installation set service_url = ${url} where service_url is distinct from ${url}`)
}

/** Where the service was last opened; `undefined` where it never was. */
export async function readServiceUrl(db: Executor): Promise<string | undefined> {
  const [row] = await db.query<{ service_url: string | null }>(sql`select service_url from installation`)
  return row?.service_url ?? undefined
}
