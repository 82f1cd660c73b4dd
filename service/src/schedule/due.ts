import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** A user with a change that is due. */
export type DueUser = { readonly partnerId: string; readonly userid: string; readonly dueAt: Instant }

/**
 * Users with a change that is due by their partner's own `now`, the earliest first. At most `quota` users of each
 * partner are read, from one index range, so that a partner with a million due changes does not hide the others.
 * Users in `but` are left out.
 */
export async function findDue(
  db: Pick<Database, 'query' | 'layout'>,
  partners: readonly { partnerId: string; now: Instant }[],
  choice: { quota: number; but: readonly { partnerId: string; userid: string }[] },
): Promise<DueUser[]> {
  if (db.layout.isSpread) return (await ofEach(partners, one => findDueOfOne(db, one, choice))).flat()
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

/**
 * How many milliseconds remain until the next change of any of these partners is due; `undefined` when none is
 * planned.
 */
export async function timeUntilDue(
  db: Pick<Database, 'query' | 'layout'>,
  partners: readonly { partnerId: string; now: Instant }[],
): Promise<number | undefined> {
  if (db.layout.isSpread) {
    const waits = (await ofEach(partners, one => timeUntilDueOfOne(db, one))).flatMap(wait => wait ?? [])
    return waits.length > 0 ? Math.min(...waits) : undefined
  }
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

/** The earliest change of each partner, past or future; a partner without planned changes is left out. */
export async function earliestDue(
  db: Pick<Database, 'query' | 'layout'>,
  partnerIds: readonly string[],
): Promise<{ partnerId: string; dueAt: Instant }[]> {
  if (db.layout.isSpread) {
    const read = async ({ partnerId }: Clocked) => {
      const rows = await db.query<{ due_at: Instant }>(sql`
        select due_at from users where partner_id = ${partnerId} and due_at is not null and is_current
        order by due_at limit 1`)
      return rows.map(row => ({ partnerId, dueAt: row.due_at }))
    }
    return (
      await ofEach(
        partnerIds.map(partnerId => ({ partnerId, now: 0 })),
        read,
      )
    ).flat()
  }
  const rows = await db.query<{ partner_id: string; due_at: Instant }>(sql`
    select p.partner_id, first.due_at
    from unnest(${[...partnerIds]}::uuid[]) as p (partner_id)
    cross join lateral (
      select u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at is not null and u.is_current
      order by u.due_at limit 1) as first`)
  return rows.map(row => ({ partnerId: row.partner_id, dueAt: row.due_at }))
}

// Citus runs no lateral join with a limit over many partners, so each partner is read by a statement of its own.

async function findDueOfOne(
  db: Pick<Database, 'query'>,
  { partnerId, now }: Clocked,
  { quota, but }: { quota: number; but: readonly { partnerId: string; userid: string }[] },
): Promise<DueUser[]> {
  const passedOver = but.filter(user => user.partnerId === partnerId).map(user => user.userid)
  const rows = await db.query<{ userid: string; due_at: Instant }>(sql`
    select userid, due_at from users
    where partner_id = ${partnerId} and due_at <= ${timestamp(now)} and is_current
      and userid <> all (${passedOver}::text[])
    order by due_at limit ${quota}`)
  return rows.map(row => ({ partnerId, userid: row.userid, dueAt: row.due_at }))
}

async function timeUntilDueOfOne(
  db: Pick<Database, 'query'>,
  { partnerId, now }: Clocked,
): Promise<number | undefined> {
  const [row] = await db.query<{ due_at: Instant }>(sql`
    select due_at from users
    where partner_id = ${partnerId} and due_at > ${timestamp(now)} and is_current
    order by due_at limit 1`)
  return row && row.due_at - now
}

type Clocked = { readonly partnerId: string; readonly now: Instant }

/**
 * The results of all partners that could be read. A partner whose node does not answer is left out; rejects when no
 * partner could be read.
 */
async function ofEach<T>(partners: readonly Clocked[], read: (one: Clocked) => Promise<T>): Promise<T[]> {
  const settled = await Promise.allSettled(partners.map(read))
  const failed = settled.find(result => result.status === 'rejected')
  if (failed && settled.every(result => result.status === 'rejected')) throw failed.reason
  return settled.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
}
