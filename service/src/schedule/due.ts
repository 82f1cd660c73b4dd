import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { namingPartners, type Part, part, sql, timestamp } from '../db/sql.ts'

/** A user with a change that is due. */
export type DueUser = { readonly partnerId: string; readonly userid: string; readonly dueAt: Instant }

type Clocked = { readonly partnerId: string; readonly now: Instant }

/**
 * Users with a change that is due by their partner's own `now`, the earliest first. At most `quota` users of each
 * partner are read, from one index range, so that a partner with a million due changes does not hide the others.
 * Users in `but` are left out.
 */
export async function findDue(
  db: Pick<Database, 'query' | 'layout' | 'stalled'>,
  partners: readonly Clocked[],
  { quota, but }: { quota: number; but: readonly { partnerId: string; userid: string }[] },
): Promise<DueUser[]> {
  const rows = await ofAll(db, partners, ({ ids, times, naming }) =>
    db.query<{ partner_id: string; userid: string; due_at: Instant }>(sql`
    select due.partner_id, due.userid, due.due_at
    from unnest(${ids}::uuid[], ${times}::timestamptz[]) as p (partner_id, now)
    cross join lateral (
      select u.partner_id, u.userid, u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at <= p.now and u.is_current ${naming}
        and (u.partner_id, u.userid) not in (
          select * from unnest(${but.map(user => user.partnerId)}::uuid[], ${but.map(user => user.userid)}::text[]))
      order by u.due_at limit ${quota}) as due`),
  )
  return rows.map(row => ({ partnerId: row.partner_id, userid: row.userid, dueAt: row.due_at }))
}

/**
 * How many milliseconds remain until the next change of any of these partners is due; `undefined` when none is
 * planned.
 */
export async function timeUntilDue(
  db: Pick<Database, 'query' | 'layout' | 'stalled'>,
  partners: readonly Clocked[],
): Promise<number | undefined> {
  const rows = await ofAll(db, partners, ({ ids, times, naming }) =>
    db.query<{ wait: number | null }>(sql`
    select min(extract(epoch from next.due_at - p.now) * 1000)::bigint as wait
    from unnest(${ids}::uuid[], ${times}::timestamptz[]) as p (partner_id, now)
    cross join lateral (
      select u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at > p.now and u.is_current ${naming}
      order by u.due_at limit 1) as next`),
  )
  const waits = rows.flatMap(({ wait }) => wait ?? [])
  return waits.length > 0 ? Math.min(...waits) : undefined
}

/** The earliest change of each partner, past or future; a partner without planned changes is left out. */
export async function earliestDue(
  db: Pick<Database, 'query' | 'layout' | 'stalled'>,
  partners: readonly Clocked[],
): Promise<{ partnerId: string; dueAt: Instant }[]> {
  const rows = await ofAll(db, partners, ({ ids, naming }) =>
    db.query<{ partner_id: string; due_at: Instant }>(sql`
    select p.partner_id, first.due_at
    from unnest(${ids}::uuid[]) as p (partner_id)
    cross join lateral (
      select u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at is not null and u.is_current ${naming}
      order by u.due_at limit 1) as first`),
  )
  return rows.map(row => ({ partnerId: row.partner_id, dueAt: row.due_at }))
}

/** Partners as a statement asks for them: their ids, their times, and what names them for a cluster. */
type Asked = { readonly ids: string[]; readonly times: (string | null)[]; readonly naming: Part }

/**
 * The rows of all partners. On a cluster each partner is read by a statement of its own, because Citus runs no lateral join
 * with a limit over many partners. There a partner whose node does not answer is left out; rejects when no partner could be
 * read.
 */
async function ofAll<Row>(
  { layout, stalled }: Pick<Database, 'layout' | 'stalled'>,
  partners: readonly Clocked[],
  read: (asked: Asked) => Promise<Row[]>,
): Promise<Row[]> {
  const readSome = (some: readonly Clocked[]) => {
    const ids = some.map(({ partnerId }) => partnerId)
    const times = some.map(({ now }) => timestamp(now))
    return read({ ids, times, naming: namingPartners(layout.isSpread, ids)(part`u.partner_id`) })
  }
  if (!layout.isSpread) return readSome(partners)
  const settled = await Promise.allSettled(
    partners.map(partner => stalled.run(partner.partnerId, () => readSome([partner]))),
  )
  const failed = settled.find(result => result.status === 'rejected')
  if (failed && settled.every(result => result.status === 'rejected')) throw failed.reason
  return settled.flatMap(result => (result.status === 'fulfilled' ? result.value : []))
}
