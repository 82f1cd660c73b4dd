import type { AuditRow } from '../../audit/entries.ts'
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'

/** An entry with the name of the operator behind it. */
export type NamedEntry = AuditRow & { operator: string | null }

/** Which entries to find: of one partner, from a time on, older than an entry. */
export type EntryQuery = {
  readonly partnerId: string
  readonly from: Instant
  readonly until: Instant
  /** Only entries of operators. */
  readonly operatorsOnly: boolean
  /** The id of the last entry on the page before. */
  readonly before: string | undefined
  readonly limit: number
}

/**
 * The newest entries that match. The search ends at the ids of its first day, because an id is never older than its
 * entry.
 */
export function findEntries(db: Executor, query: EntryQuery): Promise<NamedEntry[]> {
  const before = query.before ?? LAST_ID
  // Two statements, because PostgreSQL uses the index of operators' entries only if the condition is a literal part of
  // the statement.
  if (query.operatorsOnly)
    return db.query<NamedEntry>(sql`
      select a.partner_id, a.entry_id, a.at, a.actor_kind, a.actor, a.source, a.action, a.service_id, a.result,
        a.sealed_reason, a.request_id, a.times,
        (select o.name from operators o where a.actor_kind = 'operator' and o.operator_id::text = a.actor) as operator
      from audit_log a
      where a.partner_id = ${query.partnerId} and a.entry_id < ${before}::uuid
        and a.entry_id >= ${firstIdAt(query.from)}::uuid and a.actor_kind in ('operator', 'command')
        and a.at >= ${timestamp(query.from)} and a.at < ${timestamp(query.until)}
      order by a.entry_id desc limit ${query.limit}`)
  return db.query<NamedEntry>(sql`
    select a.partner_id, a.entry_id, a.at, a.actor_kind, a.actor, a.source, a.action, a.service_id, a.result,
      a.sealed_reason, a.request_id, a.times,
      (select o.name from operators o where a.actor_kind = 'operator' and o.operator_id::text = a.actor) as operator
    from audit_log a
    where a.partner_id = ${query.partnerId} and a.entry_id < ${before}::uuid
      and a.entry_id >= ${firstIdAt(query.from)}::uuid
      and a.at >= ${timestamp(query.from)} and a.at < ${timestamp(query.until)}
    order by a.entry_id desc limit ${query.limit}`)
}

const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** The lowest id that an entry of an instant can have: ids are UUIDs v7, which begin with their time. */
function firstIdAt(instant: Instant): string {
  const hex = Math.max(0, instant).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}

/** How far the record of a partner is sealed: the last block of each source. */
export function sealedUntil(
  db: Executor,
  partnerId: string,
): Promise<{ source: string; number: number; until_at: Instant; sealed_at: Instant }[]> {
  return db.query(sql`
    select distinct on (source) source, number, until_at, sealed_at from audit_blocks
    where partner_id = ${partnerId} order by source, number desc`)
}
