import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import type { SecondPersonAction, SecondPersonPolicy } from './second-person.ts'

/** A row of `operator_requests`. */
export type RequestRow = {
  partner_id: string
  request_id: string
  action: SecondPersonAction
  service_id: string | null
  sealed: Buffer
  asked_by: string
  asked_at: Instant
  expires_at: Instant
  decided_by: string | null
  decided_at: Instant | null
  outcome: 'done' | 'refused' | 'withdrawn' | 'lapsed' | null
}

/** The policy about second persons, as it was set. */
export async function readPolicy(db: Executor): Promise<SecondPersonPolicy> {
  const [row] = await db.query<{ operator_policy: SecondPersonPolicy }>(sql`
    select operator_policy from installation`)
  return row?.operator_policy ?? {}
}

/** Sets whether an action needs a second person. */
export async function writePolicy(
  db: Executor,
  action: SecondPersonAction,
  isNeeded: boolean,
): Promise<void> {
  await db.query(sql`
    update installation set operator_policy = operator_policy || ${JSON.stringify({ [action]: isNeeded })}::jsonb`)
}

/** Stores a waiting request. */
export function insertRequest(row: Omit<RequestRow, 'decided_by' | 'decided_at' | 'outcome'>): Query {
  return sql`
    insert into operator_requests (partner_id, request_id, action, service_id, sealed, asked_by, asked_at, expires_at)
    values (${row.partner_id}, ${row.request_id}, ${row.action}, ${row.service_id}, ${row.sealed}, ${row.asked_by},
      ${timestamp(row.asked_at)}, ${timestamp(row.expires_at)})`
}

/** The request of an id among those of these partners. */
export async function findRequest(
  db: Executor,
  partners: readonly string[],
  requestId: string,
): Promise<RequestRow | undefined> {
  const [row] = await db.query<RequestRow>(sql`
    select partner_id, request_id, action, service_id, sealed, asked_by, asked_at, expires_at, decided_by, decided_at,
      outcome
    from operator_requests where partner_id = any(${partners}::uuid[]) and request_id = ${requestId}`)
  return row
}

/** The requests about one user, the oldest first. */
export function requestsAbout(db: Executor, partnerId: string, serviceId: string): Promise<RequestRow[]> {
  return db.query<RequestRow>(sql`
    select partner_id, request_id, action, service_id, sealed, asked_by, asked_at, expires_at, decided_by, decided_at,
      outcome
    from operator_requests where partner_id = ${partnerId} and service_id = ${serviceId} order by request_id`)
}

/** A request in the list, without what it would do. */
export type ListedRequest = Omit<RequestRow, 'sealed'>

/** The most waiting requests that are listed, and the most others. */
export const MOST_LISTED = 2000

/** The requests of these partners that wait at an instant, oldest first. */
export function waitingRequests(
  db: Executor,
  partners: readonly string[],
  at: Instant,
): Promise<ListedRequest[]> {
  return db.query<ListedRequest>(sql`
    select partner_id, request_id, action, service_id, asked_by, asked_at, expires_at, decided_by, decided_at, outcome
    from operator_requests
    where partner_id = any(${partners}::uuid[]) and outcome is null and expires_at > ${timestamp(at)}
    order by request_id limit ${MOST_LISTED}`)
}

/** The requests of these partners that no longer wait, newest first. */
export function pastRequests(
  db: Executor,
  partners: readonly string[],
  at: Instant,
): Promise<ListedRequest[]> {
  return db.query<ListedRequest>(sql`
    select partner_id, request_id, action, service_id, asked_by, asked_at, expires_at, decided_by, decided_at, outcome
    from operator_requests
    where partner_id = any(${partners}::uuid[]) and (outcome is not null or expires_at <= ${timestamp(at)})
    order by request_id desc limit ${MOST_LISTED}`)
}

/**
 * Decides a request; a withdrawal has no decider. For a request that is already decided it violates a check of the
 * table, so that the transaction which performs the request fails too.
 */
export function decideRequest(
  { partner_id, request_id }: Pick<RequestRow, 'partner_id' | 'request_id'>,
  decision: { outcome: 'done' | 'refused' | 'withdrawn'; by: string | null; at: Instant },
): Query {
  return sql`
    update operator_requests set decided_by = ${decision.by}::uuid, decided_at = ${timestamp(decision.at)}::timestamptz,
      outcome = case when outcome is null then ${decision.outcome} else 'decided before' end
    where partner_id = ${partner_id} and request_id = ${request_id}`
}

/** Marks the requests whose time is over. */
export async function lapseRequests(db: Executor, at: Instant): Promise<void> {
  await db.query(sql`
    update operator_requests set outcome = 'lapsed', decided_at = expires_at
    where outcome is null and expires_at <= ${timestamp(at)}`)
}
