import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

// An endpoint belongs to the process that its lease names, for as long as that process lives: to live on is one row a beat,
// however many endpoints it has. Whoever takes leases of the dead locks their rows in `dispatchers` first and looks at the
// time again, so that a process which wakes at that moment either lives on before or sees what it has lost.

/** An endpoint that this process owns. */
export type Lease = {
  partner_id: string
  endpoint_id: string
  epoch: number
  version: number
  /** Whether something is due there at this instant of real time. */
  has_due: boolean
}

/** An endpoint by its name. */
export type NamedEndpoint = { readonly partnerId: string; readonly endpointId: string }

/** How this process takes part in sharing the endpoints. */
export type Share = {
  readonly dispatcherId: string
  readonly leaseMs: number
  /** By which it is told where something is due. */
  readonly now: Instant
}

/** What a process owns after a beat. */
export type Owned = {
  readonly leases: readonly Lease[]
  /** How many endpoints are its part: those above it are to be given up. */
  readonly part: number
  /** Endpoints of its part that nobody owns. */
  readonly free: readonly NamedEndpoint[]
}

/** How many endpoints are taken at once: it bounds what a beat costs when another process ends. */
export const TAKEN_AT_ONCE = 1000

/**
 * Says that this process lives, and tells what it owns, where something is due there (so that an idle process asks for
 * nothing else), and what it may take. What is not in the answer is not owned any more. All times of leases are the
 * database's.
 */
export const beat = async (db: Executor, share: Share): Promise<Owned> => {
  const found = await liveOn(db, share)
  if (found.isAlive) return found
  // New, or late: others may have taken what it owned, and a new look shows what is left.
  await db.query(sql`
    insert into dispatchers (dispatcher_id, until)
    values (${share.dispatcherId}::uuid, clock_timestamp() + ${share.leaseMs} * interval '1 millisecond')
    on conflict (dispatcher_id) do update set until = excluded.until`)
  return liveOn(db, share)
}

type Row = Lease & { kind: 'lease' | 'free' | 'share'; part: number; is_alive: boolean }

const liveOn = async (db: Executor, share: Share): Promise<Owned & { isAlive: boolean }> => {
  const rows = await db.query<Row>(sql`
    with alive as (
      update dispatchers set until = clock_timestamp() + ${share.leaseMs} * interval '1 millisecond'
      where dispatcher_id = ${share.dispatcherId}::uuid and until > clock_timestamp()
      returning dispatcher_id
    ),
    mine as (
      select l.partner_id, l.endpoint_id, l.epoch, w.version
      from endpoint_leases l
      join webhook_endpoints w using (partner_id, endpoint_id)
      where l.owner = ${share.dispatcherId}::uuid and w.deleted_at is null and w.disabled_at is null
    ),
    shared as (
      select ceil(count(*)::numeric / greatest(1, (
        select count(*) + 1 from dispatchers d
        where d.until > clock_timestamp() and d.dispatcher_id <> ${share.dispatcherId}::uuid)))::integer as part
      from webhook_endpoints where deleted_at is null and disabled_at is null
    ),
    free as (
      select w.partner_id, w.endpoint_id
      from webhook_endpoints w
      left join endpoint_leases l using (partner_id, endpoint_id)
      left join dispatchers d on d.dispatcher_id = l.owner
      where w.deleted_at is null and w.disabled_at is null and (d.dispatcher_id is null or d.until < clock_timestamp())
        and l.owner is distinct from ${share.dispatcherId}::uuid
      limit least(${TAKEN_AT_ONCE}, greatest(0, (select part from shared) - (select count(*) from mine)))
    )
    select 'lease' as kind, partner_id, endpoint_id, epoch, version, null::integer as part, null::boolean as is_alive,
      exists (
        select from unnest(array['fresh', 'retry', 'replay']) as kind (work)
        cross join lateral (
          select from deliveries d
          where d.partner_id = mine.partner_id and d.endpoint_id = mine.endpoint_id and d.work = kind.work
            and not d.parked and d.due_at <= ${timestamp(share.now)}
          limit 1) head
      ) as has_due
      from mine
    union all
    select 'free', partner_id, endpoint_id, null, null, null, null, null from free
    union all
    select 'share', null, null, null, null, part, exists (select from alive), null from shared`)
  const shared = rows.find(row => row.kind === 'share')
  return {
    leases: rows.filter(row => row.kind === 'lease'),
    free: rows.filter(row => row.kind === 'free').map(nameOf),
    part: shared?.part ?? 0,
    isAlive: shared?.is_alive ?? false,
  }
}

const nameOf = (row: { partner_id: string; endpoint_id: string }): NamedEndpoint => ({
  partnerId: row.partner_id,
  endpointId: row.endpoint_id,
})

/** Takes those of these endpoints that are free still; gives the epochs of what was taken. */
export const take = (
  db: Executor,
  dispatcherId: string,
  free: readonly NamedEndpoint[],
): Promise<{ partner_id: string; endpoint_id: string; epoch: number }[]> =>
  db.query(sql`
    with dead as (
      select dispatcher_id from dispatchers
      where until < clock_timestamp() and dispatcher_id <> ${dispatcherId}::uuid
      order by dispatcher_id
      for no key update
    )
    insert into endpoint_leases as l (partner_id, endpoint_id, owner, epoch)
    select row.partner_id, row.endpoint_id, ${dispatcherId}::uuid, 1
    from unnest(${free.map(one => one.partnerId)}::uuid[], ${free.map(one => one.endpointId)}::uuid[])
      as row (partner_id, endpoint_id)
    order by row.partner_id, row.endpoint_id
    on conflict (partner_id, endpoint_id) do update set owner = excluded.owner, epoch = l.epoch + 1
      where l.owner is null or l.owner in (select dispatcher_id from dead)
    returning l.partner_id, l.endpoint_id, l.epoch`)

/** Gives up endpoints of which nothing is under way any more. */
export const leave = async (
  db: Executor,
  dispatcherId: string,
  leaving: readonly NamedEndpoint[],
): Promise<void> => {
  // By the key of each, which an update of many by a list would not promise.
  await db.query(sql`
    insert into endpoint_leases as l (partner_id, endpoint_id, owner, epoch)
    select row.partner_id, row.endpoint_id, null, 1
    from unnest(${leaving.map(one => one.partnerId)}::uuid[], ${leaving.map(one => one.endpointId)}::uuid[])
      as row (partner_id, endpoint_id)
    order by row.partner_id, row.endpoint_id
    on conflict (partner_id, endpoint_id) do update set owner = null where l.owner = ${dispatcherId}::uuid`)
}

/** Gives everything up at once, so that others need not wait for the leases to end; forgets the long dead. */
export const giveUp = async (db: Executor, dispatcherId: string): Promise<void> => {
  await db.query(sql`
    update dispatchers set until = '-infinity' where dispatcher_id = ${dispatcherId}::uuid`)
  await db.query(sql`
    delete from dispatchers d
    where d.until < clock_timestamp()
      and not exists (select from endpoint_leases l where l.owner = d.dispatcher_id)`)
}
