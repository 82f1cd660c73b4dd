import { dateAt, type Instant, type Zone } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, nothing, sql, timestamp } from '../../db/sql.ts'
import type { RowPosition } from '../views/list.ts'

/** The kinds of due changes, as the page names them. */
export const DUE_KINDS = [
  'membership starts',
  'membership ends',
  'offer change',
  'swap',
  'benefit starts',
  'benefit ends',
  'benefit lapses',
  'prefill lapses',
] as const

/** A change that will happen to a user by itself. */
export type DueChange = {
  readonly kind: (typeof DUE_KINDS)[number]
  readonly at: Instant
  readonly what: string
}

/** A user with a change that is due, and all changes of this user until the end of the search, soonest first. */
export type DueUser = {
  /** When the earliest of them is due. */
  readonly dueAt: Instant
  readonly serviceId: string
  readonly userid: string
  readonly changes: readonly DueChange[]
}

/** Which users to find: those with a change due before an instant, in the order of their earliest change. */
type DueQuery = {
  readonly partnerId: string
  readonly until: Instant
  /** The latest come first instead of the soonest. */
  readonly isLatestFirst?: boolean
  /** Only changes of this kind, and users who have one. */
  readonly kind?: DueChange['kind'] | undefined
  /** The position of the last user that was looked at before; the id decides among those of one instant. */
  readonly after: RowPosition | undefined
  /** At most this many users are found. */
  readonly limit: number
  /** At most this many users are looked at; absent: as many as are found. */
  readonly most?: number
}

/** The users who were found among those that were looked at. */
type DueFound = {
  readonly users: readonly DueUser[]
  /** The position at which to search on; `undefined`: these are all. */
  readonly last: RowPosition | undefined
}

/** The position of a user in that order. */
export function positionOfUser({ dueAt, serviceId }: DueUser): RowPosition {
  return { at: dueAt, id: serviceId }
}

type FoundRow = {
  number: number
  service_id: string
  userid: string
  due_at: Instant
  /** As JSON, so that the process reads one row for each user. */
  changes: [kind: DueChange['kind'], at: Instant, what: string | null][]
}

/** The next users of a partner with something due. */
export async function nextDue(db: Executor, query: DueQuery): Promise<DueFound> {
  const { partnerId, until, isLatestFirst = false, kind, after, limit, most = limit } = query
  const end = fragment`${timestamp(until)}::timestamptz`
  const position =
    after &&
    (isLatestFirst
      ? fragment`and (due_at, service_id) < (${timestamp(after.at)}::timestamptz, ${after.id}::uuid)`
      : fragment`and (due_at, service_id) > (${timestamp(after.at)}::timestamptz, ${after.id}::uuid)`)
  const order = isLatestFirst ? fragment`desc` : fragment`asc`
  // An enrolment's state is in no condition of its own, because PostgreSQL would then search the index of overlapping times,
  // which takes longer than that of the primary key. The last user that was looked at is returned without changes, too,
  // because the next search begins there. Two conditions at the end say so, because PostgreSQL can test the first of them
  // before it gathers a user's changes.
  const rows = await db.query<FoundRow>(sql`
    select next.number, next.service_id, u.userid, next.due_at, coalesce(due.changes, '[]') as changes
    from (
      select due_at, service_id, row_number() over (order by due_at ${order}, service_id ${order}) as number,
        ${kind === undefined ? fragment`true` : mayHave(kind, end)} as may_have
      from users
      where partner_id = ${partnerId} and due_at < ${end}
        ${position ?? nothing}
      order by due_at ${order}, service_id ${order} limit ${most}) next
    join users u on u.partner_id = ${partnerId} and u.service_id = next.service_id
    cross join lateral (
      select json_agg(json_build_array(kind, round(extract(epoch from at) * 1000), what) order by at, kind, what) as changes
      from (
        select * from ${ownChanges}
        union all
        select ${kindOfEnrolment}, ${dateOfEnrolment}, e.benefit from enrolments e
        where e.partner_id = ${partnerId} and e.service_id = u.service_id
      ) own_changes
      where at < ${end} ${kind === undefined ? nothing : fragment`and kind = ${kind}`}
    ) due
    where (next.may_have or next.number = ${most}) and (due.changes is not null or next.number = ${most})
    order by next.due_at ${order}, next.service_id ${order} limit ${limit}`)
  const users = rows
    .filter(({ changes }) => changes.length > 0)
    .map(row => ({
      dueAt: row.due_at,
      serviceId: row.service_id,
      userid: row.userid,
      changes: row.changes.map(([kind, at, what]) => ({ kind, at, what: what ?? '' })),
    }))
  const last = rows.at(-1)
  const isMore = last !== undefined && (rows.length === limit || last.number === most)
  return { users, last: isMore ? { at: last.due_at, id: last.service_id } : undefined }
}

/** The changes in a row `u` of `users`, and the one in a row `e` of `enrolments`. */
const ownChanges = fragment`(values
    ('prefill lapses', u.entry_expires_at, null),
    ('membership starts', case when u.status = 'active' and not u.offer_in_force then u.offer_since end, u.offer),
    ('membership ends', case when u.status = 'active' then u.cancel_at end, u.offer),
    ('offer change', u.pending_offer_at, u.offer || ' to ' || u.pending_offer),
    ('swap', u.swap_at, null)) as own (kind, at, what)`
const kindOfEnrolment = fragment`
    case e.state when 'scheduled' then 'benefit starts' when 'actionrequired' then 'benefit lapses' else 'benefit ends' end`
const dateOfEnrolment = fragment`
    case e.state when 'scheduled' then e.starts_at when 'actionrequired' then e.action_due_at
      when 'endscheduled' then e.ends_at end`

/** Beyond this many users the soonest are counted. */
export const MOST_USERS_COUNTED = 10_000

/** How many changes of each kind the soonest users have on each day of a zone, and how many users they are. */
export async function countDue(
  db: Executor,
  { partnerId, until, zone }: { partnerId: string; until: Instant; zone: Zone },
): Promise<{ users: number; days: ReadonlyMap<string, number> }> {
  const end = fragment`${timestamp(until)}::timestamptz`
  // Most changes fall due together, at the end of a month: so few rows come back, and few days are computed.
  const rows = await db.query<{ kind: DueChange['kind']; at: Instant; count: number; users: number }>(sql`
    with u as materialized (
      select * from users where partner_id = ${partnerId} and due_at < ${end} order by due_at limit ${MOST_USERS_COUNTED})
    select kind, at, count(*)::integer as count, (select count(*)::integer from u) as users
    from (
      select own.kind, own.at from u cross join lateral ${ownChanges}
      union all
      select ${kindOfEnrolment}, ${dateOfEnrolment} from u join enrolments e
        on e.partner_id = ${partnerId} and e.service_id = u.service_id) changes
    where at < ${end} group by kind, at order by at, kind`)
  const days = new Map<string, number>()
  for (const { kind, at, count } of rows) {
    const day = `${dateAt(instantWithinDay({ kind, at }), zone)} ${kind}`
    days.set(day, (days.get(day) ?? 0) + count)
  }
  return { users: rows[0]?.users ?? 0, days }
}

/** Whether it is told by the last day of what ends. */
export function isLastDay({ kind }: Pick<DueChange, 'kind'>): boolean {
  return kind.endsWith('ends')
}

/** An instant within the day on which people find it: of an end the last day of cover. */
export function instantWithinDay(change: Pick<DueChange, 'kind' | 'at'>): Instant {
  return isLastDay(change) ? change.at - 1 : change.at
}

/**
 * Whether a row of `users` may have a change of a kind before an instant: true of each user who has one. It reads one row
 * of one table, so that users without such a change cost little; all changes of a user cost six times as much to gather.
 */
function mayHave(kind: DueChange['kind'], end: Fragment): Fragment {
  switch (kind) {
    case 'membership starts':
      return fragment`offer_since < ${end} and not offer_in_force`
    case 'membership ends':
      return fragment`cancel_at < ${end}`
    case 'offer change':
      return fragment`pending_offer_at < ${end}`
    case 'swap':
      return fragment`swap_at < ${end}`
    case 'prefill lapses':
      return fragment`entry_expires_at < ${end}`
    case 'benefit starts':
      return ofAnEnrolment(fragment`state = 'scheduled' and starts_at < ${end}`)
    case 'benefit ends':
      return ofAnEnrolment(fragment`state = 'endscheduled' and ends_at < ${end}`)
    case 'benefit lapses':
      return ofAnEnrolment(fragment`state = 'actionrequired' and action_due_at < ${end}`)
  }
}

/** By an aggregate, because PostgreSQL would answer an `exists` here from the whole table. */
function ofAnEnrolment(condition: Fragment): Fragment {
  return fragment`(select bool_or(${condition}) from enrolments e
    where e.partner_id = users.partner_id and e.service_id = users.service_id)`
}

/** Late users are counted up to this number. */
export const MOST_LATE = 10_000

/** How many users have had a change due since before an instant, up to `MOST_LATE`. */
export async function countLate(
  db: Executor,
  { partnerId, before }: { partnerId: string; before: Instant },
): Promise<number> {
  const [row] = await db.query<{ late: number }>(sql`
    select count(*) as late from (
      select from users where partner_id = ${partnerId} and due_at < ${timestamp(before)} limit ${MOST_LATE}) counted`)
  return row?.late ?? 0
}
