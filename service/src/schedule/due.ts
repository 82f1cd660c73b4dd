import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** A user with something due. */
export type DueUser = { readonly partnerId: string; readonly userid: string; readonly dueAt: Instant }

/**
 * Users with something due by their partner's own `now`, the earliest first, at most `quota` of each partner: a
 * partner's million due changes are one index range, and do not hide another's.
 */
export const findDue = async (
  db: Executor,
  partners: readonly { partnerId: string; now: Instant }[],
  quota: number,
): Promise<DueUser[]> => {
  const rows = await db.query<{ partner_id: string; userid: string; due_at: Instant }>(sql`
    select due.partner_id, due.userid, due.due_at
    from unnest(${partners.map(partner => partner.partnerId)}::uuid[], ${partners.map(partner => timestamp(partner.now))}::timestamptz[])
      as p (partner_id, now)
    cross join lateral (
      select u.partner_id, u.userid, u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at <= p.now and u.is_current
      order by u.due_at limit ${quota}) as due`)
  return rows.map(row => ({ partnerId: row.partner_id, userid: row.userid, dueAt: row.due_at }))
}

/** The earliest instants at which something becomes due, by partner. */
export const nextDue = async (
  db: Executor,
  partnerIds: readonly string[],
): Promise<{ partnerId: string; dueAt: Instant }[]> => {
  const rows = await db.query<{ partner_id: string; due_at: Instant }>(sql`
    select p.partner_id, first.due_at
    from unnest(${partnerIds}::uuid[]) as p (partner_id)
    cross join lateral (
      select u.due_at from users u where u.partner_id = p.partner_id and u.due_at is not null
      order by u.due_at limit 1) as first`)
  return rows.map(row => ({ partnerId: row.partner_id, dueAt: row.due_at }))
}
