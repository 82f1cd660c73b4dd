import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** An endpoint that this process owns. */
export type Lease = {
  partner_id: string
  endpoint_id: string
  epoch: number
  version: number
  /** Whether something is due there at this instant of real time. */
  has_due: boolean
}

/** How this process takes part in sharing the endpoints. */
export type Share = {
  readonly dispatcherId: string
  readonly leaseMs: number
  /** Endpoints to give up, since nothing of theirs is under way any more. */
  readonly leaving: readonly { partnerId: string; endpointId: string }[]
  /** By which it is told where something is due. */
  readonly now: Instant
}

/** What a process owns after a beat. */
export type Owned = {
  readonly leases: readonly Lease[]
  /** How many endpoints are its part: those above it are to be given up. */
  readonly part: number
}

/**
 * One statement that says this process lives, renews its leases, gives up those it leaves, and takes free ones up to
 * its even part. All times of leases are the database's. What is not in the answer is not owned any more. It also tells where
 * something is due, by a look at the heads of the queues, so that an idle process asks for nothing else.
 */
export const beat = async (db: Executor, share: Share): Promise<Owned> => {
  const rows = await db.query<Lease & { part: number; is_owned: boolean }>(sql`
    with alive as (
      insert into dispatchers (dispatcher_id, until)
      values (${share.dispatcherId}::uuid, clock_timestamp() + ${share.leaseMs} * interval '1 millisecond')
      on conflict (dispatcher_id) do update set until = excluded.until
    ),
    shared as (
      select ceil(count(*)::numeric / greatest(1, (
        select count(*) + 1 from dispatchers d
        where d.until > clock_timestamp() and d.dispatcher_id <> ${share.dispatcherId})))::integer as part
      from webhook_endpoints where deleted_at is null and disabled_at is null
    ),
    mine as (
      select l.partner_id, l.endpoint_id, l.epoch, w.version,
        w.deleted_at is not null or w.disabled_at is not null or leaving.endpoint_id is not null as is_left
      from endpoint_leases l
      join webhook_endpoints w using (partner_id, endpoint_id)
      left join unnest(${share.leaving.map(endpoint => endpoint.partnerId)}::uuid[],
        ${share.leaving.map(endpoint => endpoint.endpointId)}::uuid[]) as leaving (partner_id, endpoint_id)
        on leaving.partner_id = l.partner_id and leaving.endpoint_id = l.endpoint_id
      where l.owner = ${share.dispatcherId} and l.until > '-infinity'
      order by l.partner_id, l.endpoint_id
      for update of l
    ),
    kept as (
      update endpoint_leases l
      set until = case when mine.is_left then '-infinity'
        else clock_timestamp() + ${share.leaseMs} * interval '1 millisecond' end
      from mine
      where l.partner_id = mine.partner_id and l.endpoint_id = mine.endpoint_id and l.owner = ${share.dispatcherId}
      returning l.partner_id, l.endpoint_id, l.epoch, mine.version, mine.is_left
    ),
    free as (
      select w.partner_id, w.endpoint_id, w.version
      from webhook_endpoints w
      left join endpoint_leases l using (partner_id, endpoint_id)
      where w.deleted_at is null and w.disabled_at is null
        and (l.endpoint_id is null or l.until < clock_timestamp())
        and (l.owner is null or l.owner <> ${share.dispatcherId} or l.until = '-infinity')
        and not (w.endpoint_id = any(${share.leaving.map(endpoint => endpoint.endpointId)}::uuid[]))
      order by w.partner_id, w.endpoint_id
      limit greatest(0, (select part from shared) - (select count(*) from mine where not is_left))
    ),
    taken as (
      insert into endpoint_leases as l (partner_id, endpoint_id, owner, epoch, until)
      select partner_id, endpoint_id, ${share.dispatcherId}::uuid, 1,
        clock_timestamp() + ${share.leaseMs} * interval '1 millisecond' from free
      on conflict (partner_id, endpoint_id) do update
        set owner = excluded.owner, epoch = l.epoch + 1, until = excluded.until
        where l.until < clock_timestamp()
      returning l.partner_id, l.endpoint_id, l.epoch
    )
    select partner_id, endpoint_id, epoch, version, part, true as is_owned, exists (
        select from unnest(array['fresh', 'retry', 'replay']) as kind (work)
        cross join lateral (
          select from deliveries d
          where d.partner_id = kept.partner_id and d.endpoint_id = kept.endpoint_id and d.work = kind.work
            and not d.parked and d.due_at <= ${timestamp(share.now)}
          limit 1) head
      ) as has_due
      from kept, shared where not is_left
    union all
    select partner_id, endpoint_id, taken.epoch, free.version, part, true, true
      from taken join free using (partner_id, endpoint_id), shared
    union all
    select null, null, null, null, part, false, false from shared`)
  return { leases: rows.filter(row => row.is_owned), part: rows[0]?.part ?? 0 }
}

/** Gives everything up at once, so that others need not wait for the leases to end. */
export const giveUp = async (db: Executor, dispatcherId: string): Promise<void> => {
  await db.query(sql`update endpoint_leases set until = '-infinity' where owner = ${dispatcherId}`)
  await db.query(
    sql`delete from dispatchers where dispatcher_id = ${dispatcherId} or until < clock_timestamp()`,
  )
}
