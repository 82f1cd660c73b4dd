import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** What waits at the endpoints of one state. */
export type Backlog = {
  state: 'ok' | 'failing' | 'paused' | 'disabled'
  endpoints: number
  waiting: number
  oldest_due_at: Instant | null
}

/** Sums up what waits, by the state of the endpoints; of each endpoint `limit` deliveries at most are counted. */
export const readBacklog = (db: Executor, options: { now: Instant; limit: number }): Promise<Backlog[]> =>
  db.query<Backlog>(sql`
    select state, count(*)::integer as endpoints, coalesce(sum(waiting), 0)::integer as waiting,
      min(oldest_due_at) as oldest_due_at
    from (
      select
        case when w.disabled_at is not null then 'disabled'
          when h.paused_until > ${timestamp(options.now)} then 'paused'
          when h.failing_since is not null then 'failing' else 'ok' end as state,
        least(${options.limit}, (select count(*) from (
          select from deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and not d.parked
          limit ${options.limit}) counted) +
        (select count(*) from (
          select from deliveries d where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and d.ordered
            and d.parked
          limit ${options.limit}) counted)) as waiting,
        (select min(head.due_at) from unnest(array['fresh', 'retry', 'replay']) as kind (work)
          cross join lateral (
            select d.due_at from deliveries d
            where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and d.work = kind.work
              and not d.parked and d.due_at <= ${timestamp(options.now)}
            order by d.due_at limit 1) head) as oldest_due_at
      from webhook_endpoints w
      join endpoint_health h using (partner_id, endpoint_id)
      where w.deleted_at is null
    ) each
    group by state`)
