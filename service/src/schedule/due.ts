import type { Instant } from '../calendar/calendar.ts'
import { byCell } from '../db/by-cell.ts'
import type { Database } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** A user with a change that is due. */
export type DueUser = { readonly partnerId: string; readonly userid: string; readonly dueAt: Instant }

type Clocked = { readonly partnerId: string; readonly now: Instant }

/**
 * Users with a change that is due by their partner's own `now`, the earliest first. At most `quota` users of each
 * partner are read, from one index range, so that a partner with a million due changes does not hide the others.
 * Users in `but` are left out.
 */
export async function findDue(
  db: Database,
  partners: readonly Clocked[],
  { quota, but }: { quota: number; but: readonly { partnerId: string; userid: string }[] },
): Promise<DueUser[]> {
  const rows = await ofAll(db, partners, (cell, { ids, times }) =>
    cell.query<{ partner_id: string; userid: string; due_at: Instant }>(sql`
    select due.partner_id, due.userid, due.due_at
    from unnest(${ids}::uuid[], ${times}::timestamptz[]) as p (partner_id, now)
    cross join lateral (
      select u.partner_id, u.userid, u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at <= p.now and u.is_current
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
export async function timeUntilDue(db: Database, partners: readonly Clocked[]): Promise<number | undefined> {
  const rows = await ofAll(db, partners, (cell, { ids, times }) =>
    cell.query<{ wait: number | null }>(sql`
    select min(extract(epoch from next.due_at - p.now) * 1000)::bigint as wait
    from unnest(${ids}::uuid[], ${times}::timestamptz[]) as p (partner_id, now)
    cross join lateral (
      select u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at > p.now and u.is_current
      order by u.due_at limit 1) as next`),
  )
  const waits = rows.flatMap(({ wait }) => wait ?? [])
  return waits.length > 0 ? Math.min(...waits) : undefined
}

/** The earliest change of each partner, past or future; a partner without planned changes is left out. */
export async function earliestDue(
  db: Database,
  partners: readonly Clocked[],
): Promise<{ partnerId: string; dueAt: Instant }[]> {
  const rows = await ofAll(db, partners, (cell, { ids }) =>
    cell.query<{ partner_id: string; due_at: Instant }>(sql`
    select p.partner_id, first.due_at
    from unnest(${ids}::uuid[]) as p (partner_id)
    cross join lateral (
      select u.due_at from users u
      where u.partner_id = p.partner_id and u.due_at is not null and u.is_current
      order by u.due_at limit 1) as first`),
  )
  return rows.map(row => ({ partnerId: row.partner_id, dueAt: row.due_at }))
}

/** Partners as a statement asks for them: their ids and their times. */
type CellQuestion = { readonly ids: string[]; readonly times: (string | null)[] }

/** The rows of all partners whose cells answer; rejects when none does. */
async function ofAll<Row>(
  db: Database,
  partners: readonly Clocked[],
  read: (cell: Database, asked: CellQuestion) => Promise<Row[]>,
): Promise<Row[]> {
  return byCell(db, partners, (cell, some) =>
    read(cell, { ids: some.map(({ partnerId }) => partnerId), times: some.map(({ now }) => timestamp(now)) }),
  )
}
