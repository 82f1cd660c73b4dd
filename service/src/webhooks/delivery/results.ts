import type { Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { ofOnePartner, type Query, sql, timestamp } from '../../db/sql.ts'
import type { Outcome } from '../egress/outcome.ts'
import type { Breaker } from '../endpoint/breaker.ts'
import type { Work } from './fairness.ts'

/** Which of two pairs of credentials a try used. */
export type Pair = 'current' | 'next'

/** One request that was made, as the log keeps it. */
export type Attempt = {
  readonly attemptId: string
  readonly startedAt: Instant
  readonly pair: Pair
  readonly outcome: Outcome
}

/** What happens to a delivery after an attempt. */
export type Disposition =
  | { readonly kind: 'delivered' }
  /** Another try at `dueAt`; `attempts` are spent. */
  | { readonly kind: 'later'; readonly attempts: number; readonly dueAt: Instant; readonly work: Work }
  | { readonly kind: 'dead'; readonly attempts: number }
  /** Nothing was spent: the row stays as it is. */
  | { readonly kind: 'unchanged' }

/** What the owner knows of an endpoint and has to be kept. */
export type HealthRecord = {
  readonly revision: number
  readonly breaker: Breaker
  readonly failingSince: Instant | null
  readonly notices: number
  readonly pausedUntil: Instant | null
  readonly acceptedPair: Pair | null
  readonly nextAcceptedAt: Instant | null
  readonly certificateEndsAt: Instant | null
}

/** The lease under which the owner of an endpoint writes. It is the same object each time, so that a batch finds it at once. */
export type HeldLease = { readonly partnerId: string; readonly endpointId: string; readonly epoch: number }

/** The end of one try. */
export type Result = {
  readonly lease: HeldLease
  readonly eventId: string
  /** Which try of the delivery it was. */
  readonly number: number
  readonly disposition: Disposition
  readonly attempts: readonly Attempt[]
  readonly endedAt: Instant
}

/** What is to be written of an endpoint itself. */
export type EndpointChange = {
  readonly lease: HeldLease
  readonly health: HealthRecord
  /** Disables the endpoint of this version. */
  readonly disable?: { readonly version: number; readonly reason: 'failing' | 'gone'; readonly at: Instant }
}

/** Which leases still hold, and for which of them the endpoint was disabled: it is not where somebody changed it meanwhile. */
export type Written = { readonly owned: ReadonlySet<HeldLease>; readonly disabled: ReadonlySet<HeldLease> }

/**
 * Writes the results of attempts in one statement: the log, the deliveries, the endpoints' health. A process that has lost
 * an endpoint writes nothing for it: the statement locks the row of the lease and compares its epoch. Set `isRepeat` when
 * the first write may have committed; only then are attempts that are in the log already ignored, because checking always
 * costs a tenth of a batch.
 */
export async function writeResults(
  db: Pick<Database, 'query' | 'layout'>,
  owner: string,
  batch: {
    results: readonly Result[]
    changes: readonly EndpointChange[]
    /** What of the answers is kept, sealed. */
    answers?: ReadonlyMap<Attempt, Buffer>
    isRepeat?: boolean
  },
): Promise<Written> {
  const { results, changes, answers } = batch
  const { leases, numberOf } = numbered([...results, ...changes])
  const tries = results.flatMap(result =>
    result.attempts.map(attempt => ({
      result,
      attempt,
      outcome: attempt.outcome,
      timings: attempt.outcome.timings,
    })),
  )
  const later = results.map(({ disposition }) => (disposition.kind === 'later' ? disposition : undefined))
  const statement = sql`
    with fence as (
      select l.partner_id, l.endpoint_id, mine.lease
      from endpoint_leases l
      join unnest(${list(leases.map(c => c.partnerId))}::uuid[], ${list(leases.map(c => c.endpointId))}::uuid[],
        ${list(leases.map(c => c.epoch))}::bigint[]) with ordinality as mine (partner_id, endpoint_id, epoch, lease)
        on mine.partner_id = l.partner_id and mine.endpoint_id = l.endpoint_id and mine.epoch = l.epoch
      where l.owner = ${owner} /* of one partner: and l.partner_id = any ($1::uuid[]) */
      order by l.partner_id, l.endpoint_id
      for update of l
    ),
    result as (
      select (${list(leases.map(c => c.partnerId))}::uuid[])[r.lease] as partner_id,
        (${list(leases.map(c => c.endpointId))}::uuid[])[r.lease] as endpoint_id, r.*
      from unnest(${list(results.map(r => numberOf(r.lease)))}::integer[], ${list(results.map(r => r.eventId))}::uuid[],
        ${list(results.map(r => r.disposition.kind))}::text[], ${list(results.map(r => attemptsOf(r.disposition)))}::integer[],
        ${list(later.map(disposition => timestamp(disposition?.dueAt)))}::timestamptz[],
        ${list(later.map(disposition => disposition?.work ?? null))}::text[],
        ${list(results.map(r => (r.disposition.kind === 'dead' ? timestamp(r.endedAt) : null)))}::timestamptz[])
        as r (lease, event_id, disposition, attempts, due_at, work, died_at)
      where r.lease = any (array(select lease from fence))
    ),
    logged as (
      insert into delivery_attempts (partner_id, endpoint_id, event_id, attempt_id, attempt, started_at, pair, status,
        error_class, address, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, sealed_answer)
      select (${list(leases.map(c => c.partnerId))}::uuid[])[t.lease],
        (${list(leases.map(c => c.endpointId))}::uuid[])[t.lease], t.event_id, t.attempt_id, t.attempt, t.started_at,
        t.pair, t.status, t.error_class, t.address, t.dns_ms, t.connect_ms, t.tls_ms, t.first_byte_ms, t.total_ms, t.sealed_answer
      from unnest(${list(tries.map(t => numberOf(t.result.lease)))}::integer[], ${list(tries.map(t => t.result.eventId))}::uuid[],
        ${list(tries.map(t => t.attempt.attemptId))}::uuid[], ${list(tries.map(t => t.result.number))}::integer[],
        ${list(tries.map(t => timestamp(t.attempt.startedAt)))}::timestamptz[],
        ${list(tries.map(t => t.attempt.pair))}::text[],
        ${list(tries.map(t => t.outcome.status ?? null))}::integer[],
        ${list(tries.map(t => t.outcome.errorClass ?? null))}::text[],
        ${list(tries.map(t => t.outcome.address ?? null))}::text[],
        ${list(tries.map(t => t.timings.dnsMs ?? null))}::integer[],
        ${list(tries.map(t => t.timings.connectMs ?? null))}::integer[],
        ${list(tries.map(t => t.timings.tlsMs ?? null))}::integer[],
        ${list(tries.map(t => t.timings.firstByteMs ?? null))}::integer[],
        ${list(tries.map(t => t.timings.totalMs))}::integer[],
        ${list(tries.map(t => bytes(answers?.get(t.attempt))))}::bytea[])
        as t (lease, event_id, attempt_id, attempt, started_at, pair, status, error_class, address, dns_ms, connect_ms,
          tls_ms, first_byte_ms, total_ms, sealed_answer)
      where t.lease = any (array(select lease from fence))
      /* in a repeat: on conflict do nothing */
    ),
    postponed as (
      update deliveries d set attempts = result.attempts, due_at = result.due_at, work = result.work
      from result
      where result.disposition = 'later' and d.partner_id = result.partner_id and d.event_id = result.event_id
        and d.endpoint_id = result.endpoint_id /* of one partner: and d.partner_id = any ($1::uuid[]) */
    ),
    ended as (
      delete from deliveries d using result
      where result.disposition in ('delivered', 'dead') and d.partner_id = result.partner_id
        and d.event_id = result.event_id and d.endpoint_id = result.endpoint_id
        /* of one partner: and d.partner_id = any ($1::uuid[]) */
      returning d.partner_id, d.event_id, d.endpoint_id, d.service_id, d.position, d.ordered, d.work,
        result.disposition, result.attempts, result.died_at
    ),
    dead_added as (
      insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
      select partner_id, event_id, endpoint_id, attempts, 'attempts', died_at from ended where disposition = 'dead'
      on conflict (partner_id, event_id, endpoint_id) do update
        set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at
    ),
    dead_removed as (
      delete from dead_deliveries d using ended
      where ended.disposition = 'delivered' and ended.work = 'replay' and d.partner_id = ended.partner_id
        and d.event_id = ended.event_id and d.endpoint_id = ended.endpoint_id
        /* of one partner: and d.partner_id = any ($1::uuid[]) */
    ),
    unparked as (
      update deliveries d set parked = false
      from ended
      cross join lateral (
        select n.event_id from deliveries n
        where /* of one partner: n.partner_id = any ($1::uuid[]) and */ n.partner_id = ended.partner_id and n.endpoint_id = ended.endpoint_id
          and n.service_id = ended.service_id and n.position > ended.position and n.ordered and n.parked
        order by n.position limit 1
      ) next
      where ended.ordered and d.partner_id = ended.partner_id and d.event_id = next.event_id
        and d.endpoint_id = ended.endpoint_id /* of one partner: and d.partner_id = any ($1::uuid[]) */
    ),
    health as (
      update endpoint_health h set breaker = c.breaker, failing_since = c.failing_since, notices = c.notices,
        paused_until = c.paused_until, accepted_pair = c.accepted_pair, next_accepted_at = c.next_accepted_at,
        certificate_ends_at = c.certificate_ends_at
      from unnest(${changes.map(c => numberOf(c.lease))}::integer[],
        ${changes.map(c => c.health.revision)}::integer[], ${changes.map(c => JSON.stringify(c.health.breaker))}::jsonb[],
        ${changes.map(c => timestamp(c.health.failingSince))}::timestamptz[],
        ${changes.map(c => c.health.notices)}::integer[],
        ${changes.map(c => timestamp(c.health.pausedUntil))}::timestamptz[],
        ${changes.map(c => c.health.acceptedPair)}::text[],
        ${changes.map(c => timestamp(c.health.nextAcceptedAt))}::timestamptz[],
        ${changes.map(c => timestamp(c.health.certificateEndsAt))}::timestamptz[])
        as c (lease, revision, breaker, failing_since, notices, paused_until, accepted_pair, next_accepted_at,
          certificate_ends_at)
      join fence using (lease)
      where h.partner_id = fence.partner_id and h.endpoint_id = fence.endpoint_id and h.revision = c.revision
        /* of one partner: and h.partner_id = any ($1::uuid[]) */
    ),
    disabled as (
      update webhook_endpoints w
      set disabled_at = c.at, disabled_reason = c.reason, version = c.version + 1, updated_at = c.at
      from unnest(${changes.map(c => numberOf(c.lease))}::integer[],
        ${changes.map(c => c.disable?.version ?? null)}::integer[], ${changes.map(c => c.disable?.reason ?? null)}::text[],
        ${changes.map(c => timestamp(c.disable?.at))}::timestamptz[]) as c (lease, version, reason, at)
      join fence using (lease)
      where w.partner_id = fence.partner_id and w.endpoint_id = fence.endpoint_id
        /* of one partner: and w.partner_id = any ($1::uuid[]) */
        and (w.version = c.version and w.disabled_at is null or w.version = c.version + 1 and w.disabled_at = c.at)
      returning c.lease
    )
    select lease, lease in (select lease from disabled) as is_disabled from fence`
  type Row = { lease: number; is_disabled: boolean }
  const adapted = db.layout.isSpread ? withoutJoin(ofOnePartner(statement)) : statement
  const rows = await db.query<Row>(batch.isRepeat ? inRepeat(adapted) : adapted)
  const named = (found: typeof rows) => new Set(found.flatMap(row => leases[row.lease - 1] ?? []))
  return { owned: named(rows), disabled: named(rows.filter(row => row.is_disabled)) }
}

/**
 * The statement with its leases found by their place in the arrays. Citus 13.0 reads the rows of a join with a function in
 * the wrong format where an insert follows; plain PostgreSQL finds each lease by its key only with the join.
 */
function withoutJoin({ name, text, values }: Query): Query {
  return {
    name,
    text: text
      .replace('mine.lease', 'array_position($2::uuid[], l.endpoint_id) as lease')
      .replace(
        /join unnest\([^)]*\) with ordinality as mine[^)]*\)\s+on [^\n]*\n\s*where/,
        'where l.endpoint_id = any ($2::uuid[]) and l.epoch = ($3::bigint[])[array_position($2::uuid[], l.endpoint_id)] and',
      ),
    values,
  }
}

/** The statement with what it says of a repeat. */
function inRepeat({ name, text, values }: Query): Query {
  return {
    name: `${name}-repeat`,
    text: text.replace(/\/\* in a repeat: (.*?) \*\//g, '$1'),
    values,
  }
}

/** Each lease once, with its number: rows name a lease by the number instead of by two ids. */
function numbered(held: readonly { lease: HeldLease }[]) {
  const leases = [...new Set(held.map(({ lease }) => lease))]
  const numbers = new Map(leases.map((lease, index) => [lease, index + 1]))
  return { leases, numberOf: (lease: HeldLease): number => numbers.get(lease) ?? 0 }
}

/** An array of values that need no quoting: the driver would look through each of them for it. An empty text is none. */
function list(values: readonly (string | number | null)[]): string {
  return `{${values.map(value => (value === null || value === '' ? 'NULL' : value)).join(',')}}`
}

/** Bytes as an element of such an array, where a backslash stands twice. */
function bytes(value: Buffer | undefined): string | null {
  return value === undefined ? null : `\\\\x${value.toString('hex')}`
}

function attemptsOf(disposition: Disposition): number | null {
  return disposition.kind === 'later' || disposition.kind === 'dead' ? disposition.attempts : null
}

/** A delivery whose turn has not come: an earlier event of its user is still to be delivered. */
export type Behind = HeldLease & { readonly eventId: string }

/**
 * Parks deliveries until the event before them has ended. It looks again for that event, as it may have ended
 * meanwhile, and holds it until the mark is committed: so it cannot end between the look and the mark. Results and
 * parkings are written by turns; the clean-up passes over what is held.
 */
export async function parkDeliveries(
  db: Pick<Database, 'query' | 'layout'>,
  owner: string,
  rows: readonly Behind[],
): Promise<void> {
  const leases = [...new Map(rows.map(row => [row.endpointId, row])).values()]
  const statement = sql`
    with fence as (
      select l.partner_id, l.endpoint_id
      from endpoint_leases l
      join unnest(${leases.map(c => c.partnerId)}::uuid[], ${leases.map(c => c.endpointId)}::uuid[],
        ${leases.map(c => c.epoch)}::bigint[]) as mine (partner_id, endpoint_id, epoch)
        on mine.partner_id = l.partner_id and mine.endpoint_id = l.endpoint_id and mine.epoch = l.epoch
      where l.owner = ${owner} /* of one partner: and l.partner_id = any ($1::uuid[]) */
      order by l.partner_id, l.endpoint_id
      for update of l
    )
    update deliveries d set parked = true
    from unnest(${rows.map(row => row.partnerId)}::uuid[], ${rows.map(row => row.endpointId)}::uuid[],
      ${rows.map(row => row.eventId)}::uuid[]) as row (partner_id, endpoint_id, event_id)
    join fence using (partner_id, endpoint_id)
    where d.partner_id = row.partner_id and d.endpoint_id = row.endpoint_id and d.event_id = row.event_id
      /* of one partner: and d.partner_id = any ($1::uuid[]) */
      and exists (
        select from deliveries earlier
        where /* of one partner: earlier.partner_id = any ($1::uuid[]) and */ earlier.partner_id = d.partner_id and earlier.endpoint_id = d.endpoint_id
          and earlier.service_id = d.service_id and earlier.position < d.position
          and earlier.ordered
        order by earlier.position limit 1
        for key share)`
  await db.query(db.layout.isSpread ? ofOnePartner(statement) : statement)
}
