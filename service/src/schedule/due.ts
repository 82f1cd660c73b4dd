import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** A user with something due. */
export type DueUser = { readonly partnerId: string; readonly userid: string; readonly dueAt: Instant }

/**
 * Users with something due by their partner's own `now`, the earliest first, at most `quota` of each partner: a
 * partner's million due changes are one index range, and do not hide another's. `but` are passed over.
 */
export const findDue = async (
  db: Executor,
  partners: readonly { partnerId: string; now: Instant }[],
  choice: { quota: number; but: readonly { partnerId: string; userid: string }[] },
): Promise<DueUser[]> => {
  const { quota, but } = choice
  const rows = await db.query<{ partner_id: string; userid: string; due_at: Instant }>(sql`
    select due.partner_id, due.userid, due.due_at
    from unnest(${partners.map(partner => partner.partnerId)}::uuid[], ${partners.map(partner => timestamp(partner.now))}::timestamptz[])
      as p (partner_id, now)
    cross join lateral (
      select u.partner_id, u.userid, u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at <= p.now and u.is_current
        and (u.partner_id, u.userid) not in (
          select * from unnest(${but.map(user => user.partnerId)}::uuid[], ${but.map(user => user.userid)}::text[]))
      order by u.due_at limit ${quota}) as due`)
  return rows.map(row => ({ partnerId: row.partner_id, userid: row.userid, dueAt: row.due_at }))
}

/** How long it is until the next user of any of these partners has something due; `undefined`: nothing is planned. */
export const timeUntilDue = async (
  db: Executor,
  partners: readonly { partnerId: string; now: Instant }[],
): Promise<number | undefined> => {
  const rows = await db.query<{ wait: number | null }>(sql`
    select min(extract(epoch from next.due_at - p.now) * 1000)::bigint as wait
    from unnest(${partners.map(partner => partner.partnerId)}::uuid[], ${partners.map(partner => timestamp(partner.now))}::timestamptz[])
      as p (partner_id, now)
    cross join lateral (
      select u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at > p.now and u.is_current
      order by u.due_at limit 1) as next`)
  return rows[0]?.wait ?? undefined
}
