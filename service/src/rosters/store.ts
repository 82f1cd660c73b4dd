import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** One period of coverage, with what is needed to open the person's data. */
export type CoverageRow = {
  service_id: string
  userid: string
  offer: string
  starts_at: Instant
  ends_at: Instant | null
  wrapped_key: Buffer | null
  profile: Buffer | null
}

/** A span of time that does not include its end. */
export type Span = { readonly from: Instant; readonly until: Instant }

/** The id that sorts before every service id. */
export const FIRST_SERVICE_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Up to `limit` periods of coverage of a benefit that touch either span, of users whose service id follows `after`,
 * in order of service id. Leaves out enrolments that were withdrawn, declined or voided, because they never covered
 * anybody.
 */
export function findCoverage(
  db: Executor,
  query: {
    partnerId: string
    benefit: string
    spans: readonly [Span, Span]
    after: string
    limit: number
  },
): Promise<CoverageRow[]> {
  const [one, other] = query.spans
  return db.query<CoverageRow>(sql`
    with covered as (
      select e.service_id, e.offer, e.starts_at, e.ends_at from enrolments e
      where e.partner_id = ${query.partnerId} and e.service_id > ${query.after}::uuid and e.benefit = ${query.benefit}
        and e.state in ('scheduled', 'enrolled', 'endscheduled', 'ended')
        and (e.ends_at is null or e.ends_at > e.starts_at)
        and (e.starts_at < ${timestamp(one.until)} and (e.ends_at is null or e.ends_at > ${timestamp(one.from)})
          or e.starts_at < ${timestamp(other.until)} and (e.ends_at is null or e.ends_at > ${timestamp(other.from)}))
      order by e.service_id, e.starts_at
      limit ${query.limit}
    )
    select covered.service_id, u.userid, covered.offer, covered.starts_at, covered.ends_at, k.wrapped_key,
      d.sealed as profile
    from covered
    join users u on u.partner_id = ${query.partnerId} and u.service_id = covered.service_id and u.status <> 'erased'
    left join data_keys k on k.partner_id = u.partner_id and k.service_id = u.service_id
    left join documents d on d.partner_id = u.partner_id and d.service_id = u.service_id and d.kind = 'profile'
    order by covered.service_id, covered.starts_at`)
}
