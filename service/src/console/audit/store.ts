import type { AuditRow } from '../../audit/entries.ts'
import { openReason } from '../../audit/reason.ts'
import { DAY_MS, type Instant, MINUTE_MS } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, nothing, sql, timestamp } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'

/** An entry with the name of the operator behind it. */
export type NamedEntry = AuditRow & { operator: string | null }

/** Which entries to find: of one partner, from a time on until another, after an entry. */
export type EntryQuery = {
  readonly partnerId: string
  readonly from: Instant
  readonly until: Instant
  /** Only entries of operators. */
  readonly operatorsOnly: boolean
  /** Only entries about this user. */
  readonly serviceId: string | undefined
  readonly isNewestFirst: boolean
  /** The id of the last entry on the page before. */
  readonly after: string | undefined
  readonly limit: number
}

/**
 * The next entries that match. Their ids grow with their times, so the search begins and ends at the ids of its first
 * and last day: it reads no other days, however many entries they have.
 */
export function findEntries(db: Executor, query: EntryQuery): Promise<NamedEntry[]> {
  const { isNewestFirst, after, serviceId } = query
  const first = firstIdAt(query.from)
  const last = firstIdAt(query.until + MOST_APART_MS)
  // Parts of the statement, and no values: PostgreSQL uses the index of operators' entries only if its condition is
  // written there. Those of one user are found by the index of users.
  const ofOperators =
    serviceId === undefined
      ? fragment`and a.actor_kind in ('operator', 'command')`
      : fragment`and (a.actor_kind in ('operator', 'command')) is true`
  const whose = query.operatorsOnly ? ofOperators : nothing
  const about = serviceId === undefined ? nothing : fragment`and a.service_id = ${serviceId}::uuid`
  const window = isNewestFirst
    ? fragment`and a.entry_id >= ${first}::uuid and a.entry_id < least(${after ?? last}::uuid, ${last}::uuid)`
    : fragment`and a.entry_id > greatest(${after ?? first}::uuid, ${first}::uuid) and a.entry_id < ${last}::uuid`
  // By `is true` PostgreSQL takes the times for no condition of the block index. A plan that it keeps for all values would
  // otherwise gather every entry of the time by that index and sort them: 1.2 s for half a million, of which 101 are shown.
  return db.query<NamedEntry>(sql`
    select a.partner_id, a.entry_id, a.at, a.actor_kind, a.actor, a.source, a.action, a.service_id, a.result,
      a.sealed_reason, a.request_id, a.times,
      (select o.name from operators o where a.actor_kind = 'operator' and o.operator_id::text = a.actor) as operator
    from audit_log a
    where a.partner_id = ${query.partnerId} ${window} ${whose} ${about}
      and (a.at >= ${timestamp(query.from)} and a.at < ${timestamp(query.until)}) is true
    order by a.entry_id ${isNewestFirst ? fragment`desc` : fragment`asc`} limit ${query.limit}`)
}

/** A user at whom an operator has looked, and when last. */
type LookedAt = { partner_id: string; service_id: string; userid: string; at: Instant }

/** The living users at whom an operator has looked since then, the newest first. */
export async function findLookedAt(
  db: Executor,
  partners: readonly string[],
  looked: { readonly by: string; readonly since: Instant; readonly limit: number },
): Promise<LookedAt[]> {
  const rows = await db.query<LookedAt>(sql`
    select u.partner_id, u.service_id, u.userid, max(a.at) as at
    from audit_log a
    join users u on u.partner_id = a.partner_id and u.service_id = a.service_id and u.status <> 'erased'
    where a.partner_id = any(${partners}::uuid[]) and a.actor_kind in ('operator', 'command')
      and a.entry_id >= ${firstIdAt(looked.since)}::uuid and a.actor_kind = 'operator' and a.actor = ${looked.by}
      and a.action in ('look at user', 'look at person')
    group by u.partner_id, u.service_id, u.userid
    order by at desc limit ${looked.limit}`)
  return rows.sort((a, b) => b.at - a.at).slice(0, looked.limit)
}

/** Why the console stopped a partner that is disabled now; `''` where it was done at the shell, which asks for no reason. */
export async function findStopReason(
  db: Executor,
  partner: Pick<Partner, 'partnerId' | 'key' | 'disabledAt'>,
): Promise<string> {
  const { partnerId, disabledAt } = partner
  if (disabledAt === undefined) return ''
  // The entry is made just before the change that it records, so an older one is of a stop that is over.
  const [row] = await db.query<{ sealed_reason: Buffer | null }>(sql`
    select sealed_reason from audit_log
    where partner_id = ${partnerId} and actor_kind in ('operator', 'command')
      and entry_id >= ${firstIdAt(disabledAt - MINUTE_MS)}::uuid and action = 'disable partner' and result = 'done'
    order by entry_id desc limit 1`)
  return openReason(partner, undefined, row?.sealed_reason ?? null)
}

/** An entry's id was made within a day of its time, also for a command that runs for hours. */
const MOST_APART_MS = DAY_MS

/** The lowest id that an entry of an instant can have: ids are UUIDs v7, which begin with their time. */
function firstIdAt(instant: Instant): string {
  const hex = Math.max(0, instant).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** How far the record of a partner is signed: the last block of each table. */
export function signedUntil(
  db: Executor,
  partnerId: string,
): Promise<{ source: string; number: number; until_at: Instant }[]> {
  return db.query(sql`
    select distinct on (source) source, number, until_at from audit_blocks
    where partner_id = ${partnerId} order by source, number desc`)
}
