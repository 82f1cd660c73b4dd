import { bytes, documents, integers, texts, timestamps, uuids } from '../../db/binary-array.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, nothing, type Query, sql } from '../../db/sql.ts'
import type { Attempt, Disposition, EndpointChange, EndpointLease, Result, Written } from './result.ts'

/**
 * Writes the results of attempts, in a transaction: the log, the deliveries, the endpoints' health. A process that has lost
 * an endpoint writes nothing for it: the first statement locks the row of the lease and compares its epoch. Set `isRepeat` when
 * the first write may have committed; only then are attempts ignored that are in the log already, because checking makes
 * a batch a tenth slower.
 */
export async function writeResults(tx: Executor, owner: string, batch: Batch): Promise<Written> {
  const { results, changes } = batch
  const leases = numbered([...results, ...changes].map(({ lease }) => lease))
  const rows = tx.query<WrittenRow>(sql`
    with fence as (${lockedLeases(leases, owner)}),
    result as (${resultRows(leases, results)}),
    postponed as (${postpone()}),
    ended as (${endDeliveries()}),
    dead_removed as (${removeDead()}),
    unparked as (${unparkNext()}),
    health as (${saveHealth(leases, changes)}),
    disabled as (${disableEndpoints(leases, changes)})
    select lease, lease in (select lease from disabled) as is_disabled,
      array(select ended.event_id::text from ended
        where ended.disposition = 'dead' and ended.endpoint_id = fence.endpoint_id) as dead
    from fence`)
  // Statements of their own, because on a cluster one that also inserts would send what it has found so far to every node, and
  // fail while any of them is away.
  const [found] = await Promise.all([rows, results.length > 0 && tx.query(logAttempts(leases, owner, batch))])
  const dead = results.filter(
    ({ disposition, lease, eventId }) =>
      disposition.kind === 'dead' &&
      found.some(row => leases.distinct[row.lease - 1] === lease && row.dead.includes(eventId)),
  )
  if (dead.length > 0) await tx.query(addDead(dead))
  const named = (wanted: typeof found) => new Set(wanted.flatMap(row => leases.distinct[row.lease - 1] ?? []))
  return { owned: named(found), disabled: named(found.filter(row => row.is_disabled)) }
}

/** The results that are written at once. */
type Batch = {
  readonly results: readonly Result[]
  readonly changes: readonly EndpointChange[]
  /** The answers to keep, sealed. */
  readonly answers?: ReadonlyMap<Attempt, Buffer>
  readonly isRepeat?: boolean
}

/** A lease that is still valid, and the events of its deliveries that were given up. */
type WrittenRow = { lease: number; is_disabled: boolean; dead: string[] }

/** The leases of a batch, each once. Rows refer to a lease by its number, which is shorter than two ids. */
type Leases = {
  readonly distinct: readonly EndpointLease[]
  readonly partnerIds: Buffer
  readonly endpointIds: Buffer
  /** The number of each row's lease, counted from 1. */
  numbersOf(rows: readonly { readonly lease: EndpointLease }[]): Buffer
}

/** The leases of rows, each once. */
export function numbered(leases: readonly EndpointLease[]): Leases {
  const distinct = [...new Set(leases)]
  const numbers = new Map(distinct.map((lease, index) => [lease, index + 1]))
  return {
    distinct,
    partnerIds: uuids(distinct.map(lease => lease.partnerId)),
    endpointIds: uuids(distinct.map(lease => lease.endpointId)),
    numbersOf: rows => integers(rows.map(({ lease }) => numbers.get(lease) ?? 0)),
  }
}

/** Locks the leases that this process still has; only what is about these is written. */
export function lockedLeases(leases: Leases, owner: string): Fragment {
  return fragment`${heldLeases(leases, owner)} order by l.partner_id, l.endpoint_id for update of l`
}

function heldLeases({ partnerIds, endpointIds, distinct }: Leases, owner: string): Fragment {
  return fragment`
    select l.partner_id, l.endpoint_id, mine.lease
    from endpoint_leases l
    join unnest(${partnerIds}::uuid[], ${endpointIds}::uuid[], ${distinct.map(lease => lease.epoch)}::bigint[])
      with ordinality as mine (partner_id, endpoint_id, epoch, lease)
      on mine.partner_id = l.partner_id and mine.endpoint_id = l.endpoint_id and mine.epoch = l.epoch
    where l.owner = ${owner}`
}

/** What becomes of each delivery that was attempted. */
function resultRows(leases: Leases, results: readonly Result[]): Fragment {
  const later = results.map(({ disposition }) => (disposition.kind === 'later' ? disposition : undefined))
  return fragment`
    select (${leases.partnerIds}::uuid[])[r.lease] as partner_id,
      (${leases.endpointIds}::uuid[])[r.lease] as endpoint_id, r.*
    from unnest(
      ${leases.numbersOf(results)}::integer[],
      ${uuids(results.map(r => r.eventId))}::uuid[],
      ${texts(results.map(r => r.disposition.kind))}::text[],
      ${integers(results.map(r => attemptsOf(r.disposition)))}::integer[],
      ${timestamps(later.map(disposition => disposition?.dueAt))}::timestamptz[],
      ${texts(later.map(disposition => disposition?.queue))}::text[],
      ${timestamps(results.map(r => (r.disposition.kind === 'dead' ? r.endedAt : null)))}::timestamptz[])
      as r (lease, event_id, disposition, attempts, due_at, work, died_at)
    where r.lease = any (array(select lease from fence))`
}

/** Adds the attempts to the log. */
function logAttempts(leases: Leases, owner: string, batch: Omit<Batch, 'changes'>): Query {
  const logged = batch.results.flatMap(({ lease, eventId, number, attempts }) =>
    attempts.map(attempt => ({ lease, eventId, number, attempt, outcome: attempt.outcome })),
  )
  const timings = logged.map(({ outcome }) => outcome.timings)
  return sql`
    insert into delivery_attempts (partner_id, endpoint_id, event_id, attempt_id, attempt, started_at, pair, status,
      error_class, address, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, sealed_answer)
    select (${leases.partnerIds}::uuid[])[t.lease], (${leases.endpointIds}::uuid[])[t.lease], t.event_id, t.attempt_id,
      t.attempt, t.started_at, t.pair, t.status, t.error_class, t.address, t.dns_ms, t.connect_ms, t.tls_ms,
      t.first_byte_ms, t.total_ms, t.sealed_answer
    from unnest(
      ${leases.numbersOf(logged)}::integer[],
      ${uuids(logged.map(l => l.eventId))}::uuid[],
      ${uuids(logged.map(l => l.attempt.attemptId))}::uuid[],
      ${integers(logged.map(l => l.number))}::integer[],
      ${timestamps(logged.map(l => l.attempt.startedAt))}::timestamptz[],
      ${texts(logged.map(l => l.attempt.pair))}::text[],
      ${integers(logged.map(l => l.outcome.status))}::integer[],
      ${texts(logged.map(l => l.outcome.errorClass))}::text[],
      ${texts(logged.map(l => l.outcome.address))}::text[],
      ${integers(timings.map(t => t.dnsMs))}::integer[],
      ${integers(timings.map(t => t.connectMs))}::integer[],
      ${integers(timings.map(t => t.tlsMs))}::integer[],
      ${integers(timings.map(t => t.firstByteMs))}::integer[],
      ${integers(timings.map(t => t.totalMs))}::integer[],
      ${bytes(logged.map(l => batch.answers?.get(l.attempt)))}::bytea[])
      as t (lease, event_id, attempt_id, attempt, started_at, pair, status, error_class, address, dns_ms, connect_ms,
        tls_ms, first_byte_ms, total_ms, sealed_answer)
    where t.lease = any (array(select held.lease from (${heldLeases(leases, owner)}) held))
    ${batch.isRepeat ? fragment`on conflict do nothing` : nothing}`
}

/** Sets the time of the next attempt. */
function postpone(): Fragment {
  return fragment`
    update deliveries d set attempts = result.attempts, due_at = result.due_at, work = result.work
    from result
    where result.disposition = 'later' and d.partner_id = result.partner_id
      and d.event_id = result.event_id and d.endpoint_id = result.endpoint_id`
}

/** Removes the deliveries that need no further attempt. */
function endDeliveries(): Fragment {
  return fragment`
    delete from deliveries d using result
    where result.disposition in ('delivered', 'dead') and d.partner_id = result.partner_id
      and d.event_id = result.event_id and d.endpoint_id = result.endpoint_id
    returning d.partner_id, d.event_id, d.endpoint_id, d.service_id, d.position, d.ordered, d.work,
      result.disposition, result.attempts, result.died_at`
}

/** Keeps deliveries that were given up, for a replay. */
function addDead(given: readonly Result[]): Query {
  return sql`
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select partner_id, event_id, endpoint_id, attempts, 'attempts', died_at
    from unnest(${uuids(given.map(({ lease }) => lease.partnerId))}::uuid[],
      ${uuids(given.map(r => r.eventId))}::uuid[], ${uuids(given.map(({ lease }) => lease.endpointId))}::uuid[],
      ${integers(given.map(r => attemptsOf(r.disposition)))}::integer[],
      ${timestamps(given.map(r => r.endedAt))}::timestamptz[]) as ended (partner_id, event_id, endpoint_id, attempts, died_at)
    on conflict (partner_id, event_id, endpoint_id) do update
      set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at`
}

/** Forgets that a delivery was given up, once a replay of it was delivered. */
function removeDead(): Fragment {
  return fragment`
    delete from dead_deliveries d using ended
    where ended.disposition = 'delivered' and ended.work = 'replay' and d.partner_id = ended.partner_id
      and d.event_id = ended.event_id and d.endpoint_id = ended.endpoint_id`
}

/** Lets the next event of the same user be delivered, where the endpoint asks for order. */
function unparkNext(): Fragment {
  return fragment`
    update deliveries d set parked = false
    from ended
    cross join lateral (
      select n.event_id from deliveries n
      where n.partner_id = ended.partner_id and n.endpoint_id = ended.endpoint_id
        and n.service_id = ended.service_id and n.position > ended.position and n.ordered and n.parked
      order by n.position limit 1
    ) next
    where ended.ordered and d.partner_id = ended.partner_id
      and d.event_id = next.event_id and d.endpoint_id = ended.endpoint_id`
}

/** Stores the health of endpoints, unless the partner has changed them meanwhile. */
function saveHealth(leases: Leases, changes: readonly EndpointChange[]): Fragment {
  const healths = changes.map(({ health }) => health)
  return fragment`
    update endpoint_health h set breaker = c.breaker, failing_since = c.failing_since, notices = c.notices,
      paused_until = c.paused_until, accepted_pair = c.accepted_pair, next_accepted_at = c.next_accepted_at,
      certificate_ends_at = c.certificate_ends_at
    from unnest(
      ${leases.numbersOf(changes)}::integer[],
      ${integers(healths.map(h => h.revision))}::integer[],
      ${documents(healths.map(h => JSON.stringify(h.breaker)))}::jsonb[],
      ${timestamps(healths.map(h => h.failingSince))}::timestamptz[],
      ${integers(healths.map(h => h.notices))}::integer[],
      ${timestamps(healths.map(h => h.pausedUntil))}::timestamptz[],
      ${texts(healths.map(h => h.acceptedPair))}::text[],
      ${timestamps(healths.map(h => h.nextAcceptedAt))}::timestamptz[],
      ${timestamps(healths.map(h => h.certificateEndsAt))}::timestamptz[])
      as c (lease, revision, breaker, failing_since, notices, paused_until, accepted_pair, next_accepted_at,
        certificate_ends_at)
    join fence using (lease)
    where h.partner_id = fence.partner_id and h.endpoint_id = fence.endpoint_id
      and h.revision = c.revision`
}

/** Disables endpoints, unless the partner has changed them meanwhile. A repeat returns those that the first write disabled. */
function disableEndpoints(leases: Leases, changes: readonly EndpointChange[]): Fragment {
  return fragment`
    update webhook_endpoints w
    set disabled_at = c.at, disabled_reason = c.reason, version = c.version + 1, updated_at = c.at
    from unnest(
      ${leases.numbersOf(changes)}::integer[],
      ${integers(changes.map(c => c.disable?.version))}::integer[],
      ${texts(changes.map(c => c.disable?.reason))}::text[],
      ${timestamps(changes.map(c => c.disable?.at))}::timestamptz[]) as c (lease, version, reason, at)
    join fence using (lease)
    where w.partner_id = fence.partner_id and w.endpoint_id = fence.endpoint_id
      and (w.version = c.version and w.disabled_at is null or w.version = c.version + 1 and w.disabled_at = c.at)
    returning c.lease`
}

function attemptsOf(disposition: Disposition): number | null {
  return disposition.kind === 'later' || disposition.kind === 'dead' ? disposition.attempts : null
}
