import { DAY_MS, type Instant } from '../../calendar/calendar.ts'
import { integers, timestamps, uuids } from '../../db/binary-array.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, nothing, sql } from '../../db/sql.ts'
import { type Clock, databaseNow, isDue } from '../endpoint/endpoint.ts'
import type { QueueKind } from '../log/deliveries.ts'
import type { Ask, Target } from './target.ts'

/**
 * How long a claimed delivery is this process's alone: longer than an attempt and the write of its result. Then it is due
 * again for every process, so that a crash loses nothing.
 */
export const CLAIM_MS = 60_000

/** How soon a delivery is looked at again whose predecessor was being written when it was looked at. */
const SOON_MS = 1000

/** At an endpoint that asks for order, how many deliveries are looked at to find some that stand behind no other. */
const LOOKED_AT = 64

/** A delivery that this process has claimed, with the event that it carries. */
export type Item = {
  readonly endpoint_id: string
  readonly event_id: string
  readonly attempts: number
  readonly queue: QueueKind
  /** Until when the claim lasts. The row has it as `due_at` while the claim stands, by which a result is fenced. */
  readonly claimed_until: Instant
  /** Null, like the time of its creation, when the event has left the log. */
  readonly body: Buffer | null
  readonly created_at: Instant | null
  /** The trace of the request that raised the event, if its caller named one. */
  readonly traceparent: string | null
}

/** What a claim has found. */
export type Claimed = {
  readonly items: readonly Item[]
  /** The endpoints that may have more which is due. */
  readonly more: ReadonlySet<string>
  /** The endpoints of which this process knows an older state than the stored one: nothing was claimed there. */
  readonly outdated: ReadonlySet<string>
}

type Row = Omit<Item, 'queue'> & { readonly kind: QueueKind | 'behind' | 'outdated' }

/**
 * Claims the oldest due deliveries at these endpoints: `due_at` moves to the end of the claim. The statement walks the
 * index from the head of each queue and stops at its room, so its cost does not grow with the backlog; it waits for no
 * row that another process is claiming. Retries and replays get at most a quarter of the room while others are due.
 *
 * Where one user's events are to arrive in order, a delivery that stands behind another one of its user moves to the time
 * of that one, and is not looked at again before then; it is due again once that one has ended (`save-results.ts`). Its
 * predecessor is locked meanwhile, so that it cannot end unseen; one that is locked by others is just ending.
 *
 * While its breaker is open, and where it has a rate, an endpoint is claimed from by one process at a time, which notes in
 * the health of the endpoint when the next may follow.
 *
 * What is reckoned from the time now are columns of `ask`, as Citus takes no such thing in a `case` of an update.
 */
export async function claimDue(db: Executor, asks: readonly Ask[], clock: Clock): Promise<Claimed> {
  const targets = asks.map(({ target }) => target)
  const now = databaseNow(clock)
  const after = (ms: number) => fragment`${now} + ${ms} * interval '1 millisecond'`
  const isGated = targets.some(isOneAtATime)
  const rows = await db.query<Row>(sql`
    with ask as materialized (
      select a.*, ${now} as now, ${after(SOON_MS)} as soon, ${after(CLAIM_MS)} as until,
        w.version = a.version and h.revision = a.revision
        and w.deleted_at is null and w.disabled_at is null as is_current
      from unnest(
        ${uuids(targets.map(one => one.partnerId))}::uuid[],
        ${uuids(targets.map(one => one.endpointId))}::uuid[],
        ${integers(targets.map(one => one.endpoint.version))}::integer[],
        ${integers(targets.map(one => one.health.revision))}::integer[],
        ${integers(asks.map(ask => ask.room))}::integer[],
        ${integers(asks.map(ask => (ask.target.endpoint.ordering === 'user' ? Math.max(ask.room, LOOKED_AT) : ask.room)))}::integer[])
        as a (partner_id, endpoint_id, version, revision, room, reach)
      join webhook_endpoints w on w.partner_id = a.partner_id and w.endpoint_id = a.endpoint_id
      join endpoint_health h on h.partner_id = a.partner_id and h.endpoint_id = a.endpoint_id
    ), found as materialized (
      select d.*, ask.room, ask.soon, ask.until, row_number() over (
        partition by d.endpoint_id, d.is_behind order by d.due_at, d.event_id) as place
      from ask
      cross join (values ('fresh', 1), ('retry', 4), ('replay', 4)) as queue (work, part)
      cross join lateral (
        select d.partner_id, d.endpoint_id, d.event_id, d.due_at, d.ordered and exists (
          select from deliveries earlier
          where earlier.partner_id = ask.partner_id and earlier.endpoint_id = ask.endpoint_id
            and earlier.service_id = d.service_id and earlier.position < d.position and earlier.ordered
        ) as is_behind
        from deliveries d
        where ask.is_current and d.partner_id = ask.partner_id and d.endpoint_id = ask.endpoint_id
          and d.work = queue.work and ${isDue(clock)}
        order by d.due_at, d.event_id
        limit (ask.reach + queue.part - 1) / queue.part
        for update of d skip locked
      ) d
    ), ${isGated ? gates(targets) : nothing} moved as (
      update deliveries d set held_from = coalesce(d.held_from, d.due_at), is_behind = found.is_behind,
        due_at = case when not found.is_behind then found.until else coalesce((
          select greatest(earlier.due_at, found.until) from deliveries earlier
          where earlier.partner_id = d.partner_id and earlier.endpoint_id = d.endpoint_id
            and earlier.service_id = d.service_id and earlier.position < d.position and earlier.ordered
          order by earlier.position limit 1 for key share skip locked
        ), found.soon) end
      from found ${isGated ? fragment`left join gate on gate.endpoint_id = found.endpoint_id` : nothing}
      where d.partner_id = found.partner_id and d.event_id = found.event_id and d.endpoint_id = found.endpoint_id
        and (found.is_behind or found.place <= ${isGated ? fragment`coalesce(gate.room, found.room)` : fragment`found.room`})
      returning d.partner_id, d.endpoint_id, d.event_id, d.attempts, found.due_at, d.due_at as claimed_until,
        case when found.is_behind then 'behind' else d.work end as kind
    )
    select m.kind, m.endpoint_id, m.event_id, m.attempts, m.claimed_until, e.body, e.created_at,
      e.data ->> 'traceparent' as traceparent, m.due_at
    from moved m
    left join events e on e.partner_id = m.partner_id and e.event_id = m.event_id and m.kind <> 'behind'
    union all
    select 'outdated', ask.endpoint_id, null, null, null, null, null, null, null from ask where not ask.is_current
    order by due_at, event_id`)
  return sorted(rows, asks)
}

/** Whether processes claim from the endpoint by turns. */
export function isOneAtATime({ endpoint, health }: Target): boolean {
  return endpoint.rate_limit !== null || health.breaker.open !== null
}

/** Up to how much the lateness of timers is made up for, at rates whose gaps are shorter. */
const LATE_MS = 20

/**
 * How many deliveries each of these endpoints may get now: none while another process probes it, or before its rate allows
 * the next. Up to 50 a second the gaps are never shorter than those of the rate. A row of health that another process is
 * changing counts as taken.
 */
function gates(targets: readonly Target[]): Fragment {
  const gated = targets.filter(isOneAtATime)
  return fragment`open_gate as (
      select h.partner_id, h.endpoint_id, g.is_probed, g.gap_ms, ask.now, ask.until, greatest(h.next_at,
        ask.now - case when g.gap_ms < ${LATE_MS} then ${LATE_MS} else 0 end * interval '1 millisecond') as since
      from unnest(
        ${uuids(gated.map(one => one.partnerId))}::uuid[], ${uuids(gated.map(one => one.endpointId))}::uuid[],
        ${gated.map(one => one.health.breaker.open !== null)}::boolean[],
        ${gated.map(gapOf)}::double precision[]) as g (partner_id, endpoint_id, is_probed, gap_ms)
      join ask on ask.endpoint_id = g.endpoint_id
      join endpoint_health h on h.partner_id = g.partner_id and h.endpoint_id = g.endpoint_id
      where exists (select from found where found.endpoint_id = h.endpoint_id and not found.is_behind)
        and (h.next_at is null or h.next_at <= ask.now)
        and (not g.is_probed or h.probing_until is null or h.probing_until <= ask.now)
      for no key update of h skip locked
    ), counted as (
      select o.*, case when o.is_probed or o.gap_ms = 0 then 1 else least(
        1 + floor(extract(epoch from o.now - o.since) * 1000 / o.gap_ms)::integer,
        (select count(*) from found where found.endpoint_id = o.endpoint_id and not found.is_behind)::integer) end as room
      from open_gate o
    ), spent as (
      select c.*, case when c.gap_ms > 0 then c.since + c.room * c.gap_ms * interval '1 millisecond' end as next_at
      from counted c
    ), taken as (
      update endpoint_health h set
        probing_until = case when s.is_probed then s.until else h.probing_until end,
        next_at = s.next_at
      from spent s where h.partner_id = s.partner_id and h.endpoint_id = s.endpoint_id
        and (h.next_at is null or h.next_at <= s.now)
        and (not s.is_probed or h.probing_until is null or h.probing_until <= s.now)
      returning h.endpoint_id, s.room
    ), gate as (
      select asked.endpoint_id, coalesce(taken.room, 0) as room
      from unnest(${uuids(gated.map(one => one.endpointId))}::uuid[]) as asked (endpoint_id)
      left join taken on taken.endpoint_id = asked.endpoint_id
    ),`
}

/**
 * How far apart the deliveries to the endpoint are by its rate, in milliseconds; 0 without one. At most a day, because the gap
 * of a rate near 0 is longer than an interval of the database can be, and the statement claims for others, too.
 */
export function gapOf({ endpoint }: Pick<Target, 'endpoint'>): number {
  return endpoint.rate_limit === null ? 0 : Math.min(1000 / endpoint.rate_limit, DAY_MS)
}

function sorted(rows: readonly Row[], asks: readonly Ask[]): Claimed {
  const items: Item[] = []
  const outdated = new Set<string>()
  const counts = new Map<string, number>()
  for (const { kind, ...row } of rows) {
    if (kind === 'outdated') outdated.add(row.endpoint_id)
    else {
      // Of retries and replays a quarter of the room is enough to suppose that there are more.
      const weight = kind === 'fresh' || kind === 'behind' ? 1 : 4
      counts.set(row.endpoint_id, (counts.get(row.endpoint_id) ?? 0) + weight)
      if (kind !== 'behind') items.push({ ...row, queue: kind })
    }
  }
  const more = asks.filter(({ target, room }) => (counts.get(target.endpointId) ?? 0) >= room)
  return { items, more: new Set(more.map(({ target }) => target.endpointId)), outdated }
}

/** Gives back what was claimed: it is due again as it was. A claim that has ended meanwhile is left alone. */
export async function giveBack(
  db: Executor,
  claimed: readonly { partnerId: string; item: Item }[],
): Promise<void> {
  const claims = fragment`unnest(${uuids(claimed.map(one => one.partnerId))}::uuid[],
      ${uuids(claimed.map(({ item }) => item.endpoint_id))}::uuid[],
      ${uuids(claimed.map(({ item }) => item.event_id))}::uuid[],
      ${timestamps(claimed.map(({ item }) => item.claimed_until))}::timestamptz[])
      as c (partner_id, endpoint_id, event_id, claimed_until)`
  await db.query(sql`
    update deliveries d set due_at = coalesce(d.held_from, d.due_at), held_from = null
    from ${claims}
    where d.partner_id = c.partner_id and d.event_id = c.event_id and d.endpoint_id = c.endpoint_id
      and d.due_at = c.claimed_until and d.held_from is not null`)
  // A probe gives its turn back as well. In one statement both could deadlock with a writer of results, which locks the health first.
  await db.query(sql`
    update endpoint_health h set probing_until = null
    from ${claims}
    where h.partner_id = c.partner_id and h.endpoint_id = c.endpoint_id and h.probing_until = c.claimed_until`)
}
