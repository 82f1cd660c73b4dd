import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import { inAllCells } from '../../db/by-cell.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'

/** The state of an endpoint, as the metrics name it. */
export const endpointStates = ['ok', 'failing', 'paused', 'disabled'] as const

/** The deliveries that wait at the endpoints of one state, and those that were given up there. */
export type Backlog = {
  state: (typeof endpointStates)[number]
  endpoints: number
  waiting: number
  dead: number
  oldest_due_at: Instant | null
}

/** Counts the waiting deliveries by the state of their endpoints, at most `limit` of each endpoint. */
export async function readBacklog(
  database: Database,
  options: { now: Instant; limit: number },
): Promise<Backlog[]> {
  const rows = await inAllCells(database, cell => readBacklogOf(cell, options))
  const sums = new Map<string, Backlog>()
  for (const row of rows) {
    const { endpoints = 0, waiting = 0, dead = 0, oldest_due_at = null } = sums.get(row.state) ?? {}
    sums.set(row.state, {
      state: row.state,
      endpoints: endpoints + row.endpoints,
      waiting: waiting + row.waiting,
      dead: dead + row.dead,
      oldest_due_at: earlier(oldest_due_at, row.oldest_due_at),
    })
  }
  return [...sums.values()]
}

function earlier(one: Instant | null, other: Instant | null): Instant | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

function readBacklogOf(db: Executor, options: { now: Instant; limit: number }): Promise<Backlog[]> {
  return db.query<Backlog>(sql`
    select state, count(*)::integer as endpoints, coalesce(sum(waiting), 0)::integer as waiting,
      coalesce(sum(dead), 0)::integer as dead,
      min(oldest_due_at) as oldest_due_at
    from (
      select
        case when w.disabled_at is not null then 'disabled'
          when h.paused_until > ${timestamp(options.now)} then 'paused'
          when h.failing_since is not null then 'failing' else 'ok' end as state,
        (select count(*) from (
          select from deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
          limit ${options.limit}) counted) as waiting,
        (select count(*) from (
          select from dead_deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id
          limit ${options.limit}) counted) as dead,
        (select min(head.due_at) from unnest('{fresh,retry,replay}'::text[]) as queue (work)
        cross join lateral (
          select d.due_at from deliveries d
          where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and d.work = queue.work
            and d.due_at <= ${timestamp(options.now)}
          order by d.due_at limit 1) head) as oldest_due_at
      from webhook_endpoints w
      join endpoint_health h using (partner_id, endpoint_id)
      where w.deleted_at is null
    ) each
    group by state`)
}

/** How soon the certificate of an endpoint expires. */
export const certificateEnds = ['past', 'within 7 days', 'within 30 days', 'later'] as const

/**
 * How many certificates expire within each of these times. An endpoint without TLS, or one that was never reached, has
 * none.
 */
export async function readCertificates(database: Database, now: Instant): Promise<Map<string, number>> {
  const rows = await inAllCells(database, cell => readCertificatesOf(cell, now))
  const sums = new Map<string, number>()
  for (const { ends, count } of rows) sums.set(ends, (sums.get(ends) ?? 0) + count)
  return sums
}

function readCertificatesOf(db: Executor, now: Instant): Promise<{ ends: string; count: number }[]> {
  return db.query(sql`
    select case when h.certificate_ends_at <= ${timestamp(now)} then 'past'
        when h.certificate_ends_at <= ${timestamp(now + 7 * DAY_MS)} then 'within 7 days'
        when h.certificate_ends_at <= ${timestamp(now + 30 * DAY_MS)} then 'within 30 days' else 'later' end as ends,
      count(*)::integer as count
    from webhook_endpoints w
    join endpoint_health h using (partner_id, endpoint_id)
    where w.deleted_at is null and w.disabled_at is null and h.certificate_ends_at is not null
    group by ends`)
}
