import type { Instant } from '../../calendar/calendar.ts'
import type { Database, Executor } from '../../db/database.ts'
import { fragment, sql, timestamp } from '../../db/sql.ts'
import type { EndpointLease } from './result.ts'

// A lease names the process that owns an endpoint, for as long as that process lives. To report that it lives, a
// process writes one row at each heartbeat, however many endpoints it owns. A process that takes over leases of dead
// processes first locks their rows in `dispatchers` and checks the time again, so that a process which wakes up at
// that moment either stays alive or learns what it has lost.

/** An endpoint that this process owns. */
type Lease = {
  partner_id: string
  endpoint_id: string
  epoch: number
  version: number
  /** Whether something is due there at this instant of real time. */
  has_due: boolean
}

/** Which process reports that it lives, and for how long at least. */
type Heartbeat = {
  readonly dispatcherId: string
  readonly leaseMs: number
  /** What is due by this instant of real time is found. */
  readonly now: Instant
}

/**
 * Whether a process lives. An end further ahead than any lease was written before the clock was set back, and does not count:
 * a process that died then would own its endpoints until the clock gets there again.
 */
const isAlive = fragment`until between statement_timestamp() and statement_timestamp() + interval '10 minutes'`

/** An endpoint that nobody owned when it was read. It is taken only while its last owner and epoch are still the same. */
type FreeEndpoint = Pick<Lease, 'partner_id' | 'endpoint_id' | 'epoch'> & { owner: string | null }

/** How many endpoints are taken at once, which bounds the cost of a heartbeat after another process has ended. */
export const TAKEN_AT_ONCE = 1000

/** What a process owns, and how many endpoints there are in all. */
export type OwnLeases = { readonly leases: readonly Lease[]; readonly count: number }

/** What a process learns when it reports that it lives. */
type Life = {
  /** The other living processes. */
  readonly others: readonly string[]
  /** Whether the former lease had ended, or this is the first: then others may have taken anything. */
  readonly isLate: boolean
  /** What `readLeases` returns: both in one transaction is most of what an idle process costs. */
  readonly read?: OwnLeases
}

/** Reports that this process lives. Leases begin and end by the database’s clock. */
export async function reportAlive(database: Database, heartbeat: Heartbeat): Promise<Life> {
  const life = await database.transaction(async tx => {
    const [others, read] = await Promise.all([sayAlive(tx, heartbeat), readLeases(tx, heartbeat)])
    return others && { others, isLate: false, read }
  })
  if (life) return life
  const others = await sayAlive(database, heartbeat)
  return { others: others ?? (await enter(database, heartbeat)), isLate: !others }
}

/**
 * Prolongs this process’s life; returns the other living processes, or `undefined` if this one is new or was late.
 */
async function sayAlive(db: Executor, heartbeat: Heartbeat): Promise<readonly string[] | undefined> {
  const [row] = await db.query<{ is_alive: boolean; others: string[] }>(sql`
    with alive as (
      update dispatchers set until = statement_timestamp() + ${heartbeat.leaseMs} * interval '1 millisecond'
      where dispatcher_id = ${heartbeat.dispatcherId}::uuid and until > statement_timestamp()
      returning dispatcher_id
    )
    select exists (select from alive) as is_alive,
      array(select dispatcher_id from dispatchers
        where ${isAlive} and dispatcher_id <> ${heartbeat.dispatcherId}::uuid)::text[] as others`)
  return row?.is_alive ? row.others : undefined
}

/** Joins the living processes. Others may have taken what this one owned; a later read shows what is left. */
async function enter(db: Executor, heartbeat: Heartbeat): Promise<readonly string[]> {
  for (;;) {
    await db.query(sql`
      insert into dispatchers (dispatcher_id, until)
      values (${heartbeat.dispatcherId}::uuid, statement_timestamp() + ${heartbeat.leaseMs} * interval '1 millisecond')
      on conflict (dispatcher_id) do update set until = excluded.until`)
    const others = await sayAlive(db, heartbeat)
    if (others) return others
  }
}

/**
 * Which endpoints this process owns, and whether something is due at each of them: those that are not in the answer it does
 * not own any more.
 */
export async function readLeases(db: Executor, heartbeat: Heartbeat): Promise<OwnLeases> {
  const rows = await db.query<Omit<Lease, 'endpoint_id'> & { endpoint_id: string | null; count: number }>(sql`
    select own.*, every_one.count
    from (select count(*) as count from webhook_endpoints w
      where w.deleted_at is null and w.disabled_at is null) every_one
    left join (
      select l.partner_id, l.endpoint_id, l.epoch, w.version,
        exists (select from deliveries d
          where d.partner_id = l.partner_id and d.endpoint_id = l.endpoint_id and d.work = 'fresh'
            and not d.parked and d.due_at <= ${timestamp(heartbeat.now)})
        or exists (select from deliveries d
          where d.partner_id = l.partner_id and d.endpoint_id = l.endpoint_id and d.work = 'retry'
            and not d.parked and d.due_at <= ${timestamp(heartbeat.now)})
        or exists (select from deliveries d
          where d.partner_id = l.partner_id and d.endpoint_id = l.endpoint_id and d.work = 'replay'
            and not d.parked and d.due_at <= ${timestamp(heartbeat.now)}) as has_due
      from endpoint_leases l
      join webhook_endpoints w on w.partner_id = l.partner_id and w.endpoint_id = l.endpoint_id
      where l.owner = ${heartbeat.dispatcherId}::uuid and w.deleted_at is null and w.disabled_at is null
    ) own on true`)
  const leases = rows.flatMap(({ count: _, ...row }) =>
    row.endpoint_id === null ? [] : [{ ...row, endpoint_id: row.endpoint_id }],
  )
  return { leases, count: rows[0]?.count ?? 0 }
}

/** Up to `limit` endpoints that no living process owns. */
export function readFree(
  db: Executor,
  { dispatcherId, others, limit }: { dispatcherId: string; others: readonly string[]; limit: number },
): Promise<FreeEndpoint[]> {
  return db.query<FreeEndpoint>(sql`
    select w.partner_id, w.endpoint_id, l.owner, coalesce(l.epoch, 0) as epoch
    from webhook_endpoints w
    left join endpoint_leases l on l.partner_id = w.partner_id and l.endpoint_id = w.endpoint_id
    where w.deleted_at is null and w.disabled_at is null
      and (l.owner is null or l.owner <> all (${[...others, dispatcherId]}::uuid[]))
    limit ${limit}`)
}

/** Takes those of these endpoints that are still free; returns their new epochs. */
export function takeLeases(
  database: Database,
  dispatcherId: string,
  free: readonly FreeEndpoint[],
): Promise<Pick<Lease, 'partner_id' | 'endpoint_id' | 'epoch'>[]> {
  const owners = [...new Set(free.flatMap(({ owner }) => owner ?? []))]
  return database.transaction(async tx => {
    const [dead, known] = await Promise.all([
      tx.query<{ id: string }>(sql`
        select dispatcher_id as id from dispatchers
        where dispatcher_id = any (${owners}::uuid[]) and not (${isAlive})
        order by dispatcher_id
        for no key update`),
      tx.query<{ id: string }>(sql`
        select dispatcher_id as id from dispatchers where dispatcher_id = any (${owners}::uuid[])`),
    ])
    const living = new Set(known.map(({ id }) => id))
    for (const { id } of dead) living.delete(id)
    const open = free.filter(({ owner }) => owner === null || !living.has(owner))
    return tx.query(sql`
      insert into endpoint_leases as l (partner_id, endpoint_id, owner, epoch)
      select row.partner_id, row.endpoint_id, ${dispatcherId}::uuid, row.epoch + 1
      from unnest(${open.map(one => one.partner_id)}::uuid[], ${open.map(one => one.endpoint_id)}::uuid[],
        ${open.map(one => one.epoch)}::bigint[]) as row (partner_id, endpoint_id, epoch)
      order by row.partner_id, row.endpoint_id
      on conflict (partner_id, endpoint_id) do update set owner = excluded.owner, epoch = excluded.epoch
        where l.epoch = excluded.epoch - 1
      returning l.partner_id, l.endpoint_id, l.epoch`)
  })
}

/** Gives up endpoints at which nothing is under way; one that another process took in the meantime stays with it. */
export async function leave(db: Executor, leaving: readonly EndpointLease[]): Promise<void> {
  // An insert finds each row by its key; a planner may not do so for an update of many rows.
  await db.query(sql`
    insert into endpoint_leases as l (partner_id, endpoint_id, owner, epoch)
    select row.partner_id, row.endpoint_id, null::uuid, row.epoch
    from unnest(${leaving.map(one => one.partnerId)}::uuid[], ${leaving.map(one => one.endpointId)}::uuid[],
      ${leaving.map(one => one.epoch)}::bigint[]) as row (partner_id, endpoint_id, epoch)
    order by row.partner_id, row.endpoint_id
    on conflict (partner_id, endpoint_id) do update set owner = null where l.epoch = excluded.epoch`)
}

/** Gives up everything at once, so that others need not wait for the leases to end. */
export async function giveUp(db: Executor, dispatcherId: string): Promise<void> {
  await db.query(sql`
    update dispatchers set until = '-infinity' where dispatcher_id = ${dispatcherId}::uuid`)
}

/** Deletes processes that died long ago. */
export async function forgetDead(db: Executor): Promise<void> {
  // No foreign key protects the rows: first see which are still named.
  const named = await db.query<{ owner: string }>(sql`
    select distinct owner from endpoint_leases where owner is not null`)
  await db.query(sql`
    delete from dispatchers
    where until < statement_timestamp() - interval '1 hour' and dispatcher_id <> all (${named.map(({ owner }) => owner)}::uuid[])`)
}

/** Whether the lease is still valid; if so it is locked until the transaction ends. */
export async function lockLease(tx: Executor, owner: string, lease: EndpointLease): Promise<boolean> {
  const rows = await tx.query(sql`
    select 1 from endpoint_leases
    where partner_id = ${lease.partnerId} and endpoint_id = ${lease.endpointId} and epoch = ${lease.epoch}
      and owner = ${owner}
    for update`)
  return rows.length > 0
}
