import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'

/** The kinds of due changes, as the page names them. */
export const DUE_KINDS = [
  'membership starts',
  'membership ends',
  'offer change',
  'swap',
  'benefit starts',
  'benefit ends',
  'prefill lapses',
] as const

/** A change that will happen to a user by itself. */
export type DueLine = {
  kind: (typeof DUE_KINDS)[number]
  at: Instant
  what: string
  service_id: string
  userid: string
}

/** The most users that are searched for the screen, which would otherwise delay other requests, and for a file. */
export const MOST_DUE_USERS = { screen: 1000, file: 5000 } as const

/**
 * The changes due for a partner's users before an instant, soonest first, among the first `most` users with a due
 * change.
 */
export async function findDue(
  db: Executor,
  { partnerId, until, most }: { partnerId: string; until: Instant; most: number },
): Promise<{ lines: DueLine[]; isAll: boolean }> {
  const end = timestamp(until)
  const users = await db.query<{ service_id: string }>(sql`
    select service_id from users where partner_id = ${partnerId} and due_at < ${end}
    order by due_at limit ${most + 1}`)
  const ids = users.slice(0, most).map(row => row.service_id)
  const lines = await db.query<DueLine>(sql`
    select due.kind, due.at, coalesce(due.what, '') as what, u.service_id, u.userid
    from unnest(${ids}::uuid[]) as wanted (service_id)
    join users u on u.partner_id = ${partnerId} and u.service_id = wanted.service_id
    cross join lateral (
      select * from (values
        ('prefill lapses', u.entry_expires_at, null),
        ('membership starts', case when u.status = 'active' and not u.offer_in_force then u.offer_since end, u.offer),
        ('membership ends', case when u.status = 'active' then u.cancel_at end, u.offer),
        ('offer change', u.pending_offer_at, u.offer || ' to ' || u.pending_offer),
        ('swap', u.swap_at, null)) as own (kind, at, what)
      union all
      select case when e.state = 'scheduled' then 'benefit starts' else 'benefit ends' end,
        case when e.state = 'scheduled' then e.starts_at else e.ends_at end, e.benefit
      from enrolments e
      where e.partner_id = ${partnerId} and e.service_id = u.service_id and e.state in ('scheduled', 'endscheduled')
    ) due
    where due.at < ${end}
    order by due.at, due.kind, u.service_id`)
  return { lines, isAll: users.length <= most }
}
