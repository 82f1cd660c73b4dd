import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, type Query, sql, timestamp } from '../../db/sql.ts'

/** A row of `operator_requests`. */
export type RequestRow = {
  partner_id: string
  request_id: string
  action: SecondPersonAction
  /** Null: it is about the partner. */
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

/**
 * Locks the living user until commit: an erasure running at the same time would not see this request and leave its content
 * behind.
 */
export function whileLiving(partnerId: string, serviceId: string): Query {
  return sql`
    select 1 / count(*) as is_living from (
      select 1 from users where partner_id = ${partnerId} and service_id = ${serviceId} and status <> 'erased'
      for share) living`
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

/** What a request is about: one user, or the partner itself. */
export type RequestSubject = { readonly partnerId: string; readonly serviceId?: string | undefined }

/** What a second person has allowed to somebody. */
export type Allowance = Pick<RequestRow, 'partner_id' | 'request_id'>

/**
 * What a second person has allowed to one of these operators since then, about a user or the partner; `undefined`: nothing, or it was
 * used.
 */
export async function findAllowance(
  db: Executor,
  { partnerId, serviceId }: RequestSubject,
  asked: { readonly action: SecondPersonAction; readonly by: readonly string[]; readonly since: Instant },
): Promise<Allowance | undefined> {
  const [row] = await db.query<Allowance>(sql`
    select partner_id, request_id from operator_requests
    where partner_id = ${partnerId} and service_id is not distinct from ${serviceId ?? null}::uuid and action = ${asked.action} and outcome = 'done'
      and asked_by = any(${asked.by}::uuid[]) and decided_at > ${timestamp(asked.since)} and used_in is null
    order by request_id limit 1`)
  return row
}

/** Uses an allowance that holds for one time, for the request of this id. Where another request was faster, its last statement fails. */
export function useAllowance({ partner_id, request_id }: Allowance, usedIn: string): readonly Query[] {
  const named = fragment`partner_id = ${partner_id} and request_id = ${request_id}`
  return [
    sql`update operator_requests set used_in = ${usedIn} where ${named} and used_in is null`,
    sql`select 1 / count(*) as is_ours from operator_requests where ${named} and used_in = ${usedIn}`,
  ]
}

/** A request that waits, without what is sealed. */
export type WaitingRequest = Pick<RequestRow, 'request_id' | 'action' | 'asked_by' | 'asked_at'>

/** The requests about a user or the partner itself that wait for a decision, the oldest first. */
export function waitingAbout(
  db: Executor,
  { partnerId, serviceId }: RequestSubject,
  at: Instant,
): Promise<WaitingRequest[]> {
  return db.query<WaitingRequest>(sql`
    select request_id, action, asked_by, asked_at from operator_requests
    where partner_id = ${partnerId} and service_id is not distinct from ${serviceId ?? null}::uuid and outcome is null
      and expires_at > ${timestamp(at)}
    order by request_id`)
}

/** The states of a request: one that nobody decided in time has lapsed, also before that is written down. */
export const REQUEST_STATES = ['waiting', 'done', 'refused', 'withdrawn', 'lapsed'] as const
export type RequestState = (typeof REQUEST_STATES)[number]

/** The state of a request at an instant. */
export function stateOf(
  { outcome, expires_at }: Pick<RequestRow, 'outcome' | 'expires_at'>,
  at: Instant,
): RequestState {
  return outcome ?? (expires_at > at ? 'waiting' : 'lapsed')
}

/** How many requests wait that other operators asked for about users of these partners. */
export async function countWaiting(
  { database, real }: { readonly database: Executor; readonly real: () => Instant },
  { operatorId }: { readonly operatorId: string },
  partners: readonly string[],
): Promise<number> {
  const rows = await database.query<{ waiting: number }>(sql`
    select count(*)::integer as waiting from operator_requests
    where outcome is null and expires_at > ${timestamp(real())} and asked_by <> ${operatorId}
      and partner_id = any(${partners}::uuid[])`)
  return rows.reduce((sum, { waiting }) => sum + waiting, 0)
}

/** A request in the list. */
export type ListedRequest = Pick<
  RequestRow,
  'partner_id' | 'request_id' | 'action' | 'asked_by' | 'asked_at' | 'decided_by'
> & {
  state: RequestState
  /** How many waiting requests there are in the whole list, or others, whichever are more. */
  longest: number
}

/** The most waiting requests that are listed, and the most others. */
export const MOST_LISTED = 500

/** The oldest of those that wait, and then the newest of the others. */
export async function listRequests(
  db: Executor,
  partners: readonly string[],
  at: Instant,
): Promise<ListedRequest[]> {
  const rows = await db.query<Omit<ListedRequest, 'longest'>>(sql`
    select partner_id, request_id, action, asked_by, asked_at, decided_by, state from (
      (select operator_requests.*, 'waiting' as state from operator_requests
      where partner_id = any(${partners}::uuid[]) and outcome is null and expires_at > ${timestamp(at)}
      order by request_id limit ${MOST_LISTED})
      union all
      (select operator_requests.*, coalesce(outcome, 'lapsed') from operator_requests
      where partner_id = any(${partners}::uuid[]) and (outcome is not null or expires_at <= ${timestamp(at)})
      order by request_id desc limit ${MOST_LISTED})) listed`)
  const waiting = inOrder(
    rows.filter(row => row.state === 'waiting'),
    1,
  )
  const others = inOrder(
    rows.filter(row => row.state !== 'waiting'),
    -1,
  )
  const longest = Math.max(waiting.length, others.length)
  return [...waiting, ...others].map(row => ({ ...row, longest }))
}

function inOrder<Row extends { readonly request_id: string }>(rows: Row[], direction: 1 | -1): Row[] {
  return rows.sort((a, b) => (a.request_id < b.request_id ? -direction : direction)).slice(0, MOST_LISTED)
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

/** The actions that a second operator must confirm, unless the policy switches that off. */
export const SECOND_PERSON_ACTIONS = [
  'void',
  'move',
  'erase',
  'dateandlink',
  'credentials',
  'release',
] as const
/** One of these actions. */
export type SecondPersonAction = (typeof SECOND_PERSON_ACTIONS)[number]

/** The settings of `enrolment operator policy`; an action that is not named needs a second person. */
export type SecondPersonPolicy = Readonly<Partial<Record<SecondPersonAction, boolean>>>

/** Whether an action needs a second person. */
export function needsSecond(policy: SecondPersonPolicy, action: SecondPersonAction): boolean {
  return policy[action] ?? true
}

/** For how many hours what a second person allowed to somebody may be done, where it is not done at once. */
export const ALLOWED_HOURS = 24

/** How long a request waits for a decision; long enough for a weekend and a holiday. */
export const REQUEST_LIFETIME_MS = 7 * DAY_MS
