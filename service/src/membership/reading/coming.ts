import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'

/** The kinds of coming changes of a user. */
export const comingKinds = ['ending', 'starting', 'changing'] as const
export type ComingKind = (typeof comingKinds)[number]

/** One coming change: a benefit that ends or starts, or a change of the account as a whole. */
type ComingRow = {
  userid: string
  service_id: string
  at: Instant
  /** `benefit`, or the kind of a change: `offer`, `swap` or `cancel`. */
  what: 'benefit' | 'offer' | 'swap' | 'cancel'
  /** The benefit; for a change of the account the present offer, or for a swap the benefits that it removes. */
  name: string
  /** For an offer change the new offer, for a swap the benefits that it adds, for a cancel its reason; else empty. */
  next: string
}

/** A partner and a period: changes after `from` and before `until`. */
export type Coming = { readonly partnerId: string; readonly from: Instant; readonly until: Instant }

/**
 * Benefits of a partner's users that end or start in the period, or pending changes that take effect in it, the earliest
 * first. Uses the index of due users, because a user with a change in the period is due by its end.
 */
export function findComing(db: Executor, kind: ComingKind, query: Coming): Promise<ComingRow[]> {
  return db.query<ComingRow>(statements[kind](query))
}

const statements: Record<ComingKind, (query: Coming) => Query> = {
  ending: ({ partnerId, from, until }) => sql`
      select u.userid, u.service_id, e.ends_at as at, 'benefit' as what, e.benefit as name,
        coalesce(e.own_end_reason, '') as next
      from users u
      join enrolments e on e.partner_id = u.partner_id and e.service_id = u.service_id
      where u.partner_id = ${partnerId} and u.is_current and u.due_at < ${timestamp(until)}
        and e.state in ('enrolled', 'endscheduled', 'scheduled', 'selected', 'actionrequired')
        and e.ends_at > ${timestamp(from)} and e.ends_at < ${timestamp(until)} and e.ends_at > e.starts_at
      order by e.ends_at, u.userid, e.benefit`,
  starting: ({ partnerId, from, until }) => sql`
      select u.userid, u.service_id, e.starts_at as at, 'benefit' as what, e.benefit as name, '' as next
      from users u
      join enrolments e on e.partner_id = u.partner_id and e.service_id = u.service_id
      where u.partner_id = ${partnerId} and u.is_current and u.due_at < ${timestamp(until)}
        and e.state in ('scheduled', 'selected', 'actionrequired')
        and e.starts_at > ${timestamp(from)} and e.starts_at < ${timestamp(until)}
      order by e.starts_at, u.userid, e.benefit`,
  changing: ({ partnerId, from, until }) => sql`
      select u.userid, u.service_id, change.at, change.what, change.name, change.next
      from users u
      cross join lateral (
        select u.pending_offer_at as at, 'offer' as what, coalesce(u.offer, '') as name, u.pending_offer as next
        where u.pending_offer_at is not null
        union all
        select u.swap_at, 'swap',
          coalesce((select string_agg(pair ->> 'remove', ' ') from jsonb_array_elements(u.swap_pairs) pair), ''),
          coalesce((select string_agg(pair ->> 'add', ' ') from jsonb_array_elements(u.swap_pairs) pair), '')
        where u.swap_at is not null
        union all
        select u.cancel_at, 'cancel', coalesce(u.offer, ''), u.cancel_reason
        where u.cancel_at is not null and u.status = 'active'
      ) change
      where u.partner_id = ${partnerId} and u.is_current and u.due_at < ${timestamp(until)}
        and change.at > ${timestamp(from)} and change.at < ${timestamp(until)}
      order by change.at, u.userid, change.what`,
}
