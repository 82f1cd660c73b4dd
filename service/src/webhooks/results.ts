import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { type Query, sql, timestamp } from '../db/sql.ts'
import type { Breaker } from './breaker.ts'
import type { Work } from './fairness.ts'
import type { Outcome } from './outcome.ts'

/** Which of two pairs of credentials a try used. */
export type Pair = 'current' | 'next'

/** One request that was made, as the log keeps it. */
export type Attempt = {
  readonly attemptId: string
  readonly startedAt: Instant
  readonly pair: Pair
  readonly outcome: Outcome
}

/** What becomes of a delivery. */
export type Fate =
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
}

/** An endpoint as its owner names it when it writes: the same object each time, so that a batch finds it at once. */
export type Claim = { readonly partnerId: string; readonly endpointId: string; readonly epoch: number }

/** The end of one try. */
export type Result = {
  readonly claim: Claim
  readonly eventId: string
  /** Which try of the delivery it was. */
  readonly number: number
  readonly fate: Fate
  readonly attempts: readonly Attempt[]
  readonly endedAt: Instant
}

/** What is to be written of an endpoint itself. */
export type EndpointChange = {
  readonly claim: Claim
  readonly health: HealthRecord
  /** Disables the endpoint of this version. */
  readonly disable?: { readonly version: number; readonly reason: 'failing' | 'gone'; readonly at: Instant }
}

/** Which claims still hold, and at which of them the endpoint was disabled: not where somebody changed it meanwhile. */
export type Written = { readonly owned: ReadonlySet<Claim>; readonly disabled: ReadonlySet<Claim> }

/**
 * Writes the results of tries in one statement: the log, what becomes of the deliveries, the endpoints' health.
 * Whoever owns an endpoint no more writes nothing of it: the row of its lease is locked and its epoch compared.
 * A repeat of what may have been written tells the same as the first; it must say so, as to look in the log for each try
 * costs a tenth of what a batch costs.
 */
export const writeResults = async (
  db: Executor,
  owner: string,
  batch: { results: readonly Result[]; changes: readonly EndpointChange[]; isRepeat?: boolean },
): Promise<Written> => {
  const { results, changes } = batch
  const { claims, numberOf } = numbered([...results, ...changes])
  const tries = results.flatMap(result =>
    result.attempts.map(attempt => ({
      result,
      attempt,
      outcome: attempt.outcome,
      timings: attempt.outcome.timings,
    })),
  )
  const later = results.map(({ fate }) => (fate.kind === 'later' ? fate : undefined))
  const statement = sql`
    with fence as (
      select l.partner_id, l.endpoint_id, mine.claim
      from endpoint_leases l
      join unnest(${list(claims.map(c => c.partnerId))}::uuid[], ${list(claims.map(c => c.endpointId))}::uuid[],
        ${list(claims.map(c => c.epoch))}::bigint[]) with ordinality as mine (partner_id, endpoint_id, epoch, claim)
        on mine.partner_id = l.partner_id and mine.endpoint_id = l.endpoint_id and mine.epoch = l.epoch
      where l.owner = ${owner}
      order by l.partner_id, l.endpoint_id
      for update of l
    ),
    result as (
      select (${list(claims.map(c => c.partnerId))}::uuid[])[r.claim] as partner_id,
        (${list(claims.map(c => c.endpointId))}::uuid[])[r.claim] as endpoint_id, r.*
      from unnest(${list(results.map(r => numberOf(r.claim)))}::integer[], ${list(results.map(r => r.eventId))}::uuid[],
        ${list(results.map(r => r.fate.kind))}::text[], ${list(results.map(r => attemptsOf(r.fate)))}::integer[],
        ${list(later.map(fate => timestamp(fate?.dueAt)))}::timestamptz[],
        ${list(later.map(fate => fate?.work ?? null))}::text[],
        ${list(results.map(r => (r.fate.kind === 'dead' ? timestamp(r.endedAt) : null)))}::timestamptz[])
        as r (claim, event_id, fate, attempts, due_at, work, died_at)
      where r.claim = any (array(select claim from fence))
    ),
    logged as (
      insert into delivery_attempts (partner_id, endpoint_id, event_id, attempt_id, attempt, started_at, pair, status,
        error_class, address, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, answer)
      select (${list(claims.map(c => c.partnerId))}::uuid[])[t.claim],
        (${list(claims.map(c => c.endpointId))}::uuid[])[t.claim], t.event_id, t.attempt_id, t.attempt, t.started_at,
        t.pair, t.status, t.error_class, t.address, t.dns_ms, t.connect_ms, t.tls_ms, t.first_byte_ms, t.total_ms, t.answer
      from unnest(${list(tries.map(t => numberOf(t.result.claim)))}::integer[], ${list(tries.map(t => t.result.eventId))}::uuid[],
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
        ${list(tries.map(t => quoted(answerOf(t.outcome))))}::text[])
        as t (claim, event_id, attempt_id, attempt, started_at, pair, status, error_class, address, dns_ms, connect_ms,
          tls_ms, first_byte_ms, total_ms, answer)
      where t.claim = any (array(select claim from fence))
      /* in a repeat: on conflict do nothing */
    ),
    postponed as (
      update deliveries d set attempts = result.attempts, due_at = result.due_at, work = result.work
      from result
      where result.fate = 'later' and d.partner_id = result.partner_id and d.event_id = result.event_id
        and d.endpoint_id = result.endpoint_id
    ),
    ended as (
      delete from deliveries d using result
      where result.fate in ('delivered', 'dead') and d.partner_id = result.partner_id
        and d.event_id = result.event_id and d.endpoint_id = result.endpoint_id
      returning d.partner_id, d.event_id, d.endpoint_id, d.service_id, d.sequence_number, d.ordered, d.work,
        result.fate, result.attempts, result.died_at
    ),
    buried as (
      insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
      select partner_id, event_id, endpoint_id, attempts, 'tries', died_at from ended where fate = 'dead'
      on conflict (partner_id, event_id, endpoint_id) do update
        set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at
    ),
    risen as (
      delete from dead_deliveries d using ended
      where ended.fate = 'delivered' and ended.work = 'replay' and d.partner_id = ended.partner_id
        and d.event_id = ended.event_id and d.endpoint_id = ended.endpoint_id
    ),
    unparked as (
      update deliveries d set parked = false
      from ended
      cross join lateral (
        select n.event_id from deliveries n
        where n.partner_id = ended.partner_id and n.endpoint_id = ended.endpoint_id
          and n.service_id = ended.service_id and n.sequence_number > ended.sequence_number and n.ordered and n.parked
        order by n.sequence_number limit 1
      ) next
      where ended.ordered and d.partner_id = ended.partner_id and d.event_id = next.event_id
        and d.endpoint_id = ended.endpoint_id
    ),
    health as (
      update endpoint_health h set breaker = c.breaker, failing_since = c.failing_since, notices = c.notices,
        paused_until = c.paused_until, accepted_pair = c.accepted_pair, next_accepted_at = c.next_accepted_at
      from unnest(${changes.map(c => numberOf(c.claim))}::integer[],
        ${changes.map(c => c.health.revision)}::integer[], ${changes.map(c => JSON.stringify(c.health.breaker))}::jsonb[],
        ${changes.map(c => timestamp(c.health.failingSince))}::timestamptz[],
        ${changes.map(c => c.health.notices)}::integer[],
        ${changes.map(c => timestamp(c.health.pausedUntil))}::timestamptz[],
        ${changes.map(c => c.health.acceptedPair)}::text[],
        ${changes.map(c => timestamp(c.health.nextAcceptedAt))}::timestamptz[])
        as c (claim, revision, breaker, failing_since, notices, paused_until, accepted_pair, next_accepted_at)
      join fence using (claim)
      where h.partner_id = fence.partner_id and h.endpoint_id = fence.endpoint_id and h.revision = c.revision
    ),
    disabled as (
      update webhook_endpoints w
      set disabled_at = c.at, disabled_reason = c.reason, version = c.version + 1, updated_at = c.at
      from unnest(${changes.map(c => numberOf(c.claim))}::integer[],
        ${changes.map(c => c.disable?.version ?? null)}::integer[], ${changes.map(c => c.disable?.reason ?? null)}::text[],
        ${changes.map(c => timestamp(c.disable?.at))}::timestamptz[]) as c (claim, version, reason, at)
      join fence using (claim)
      where w.partner_id = fence.partner_id and w.endpoint_id = fence.endpoint_id
        and (w.version = c.version and w.disabled_at is null or w.version = c.version + 1 and w.disabled_at = c.at)
      returning c.claim
    )
    select claim, claim in (select claim from disabled) as is_disabled from fence`
  type Row = { claim: number; is_disabled: boolean }
  const rows = await db.query<Row>(batch.isRepeat ? inRepeat(statement) : statement)
  const named = (found: typeof rows) => new Set(found.flatMap(row => claims[row.claim - 1] ?? []))
  return { owned: named(rows), disabled: named(rows.filter(row => row.is_disabled)) }
}

/** The statement with what it says of a repeat. */
const inRepeat = ({ name, text, values }: Query): Query => ({
  name: `${name}-repeat`,
  text: text.replace(/\/\* in a repeat: (.*?) \*\//g, '$1'),
  values,
})

/** Each claim once, and where it stands among them: rows name it by that number instead of by two ids. */
const numbered = (claimed: readonly { claim: Claim }[]) => {
  const claims = [...new Set(claimed.map(({ claim }) => claim))]
  const numbers = new Map(claims.map((claim, index) => [claim, index + 1]))
  return { claims, numberOf: (claim: Claim): number => numbers.get(claim) ?? 0 }
}

/** An array of values that need no quoting: the driver would look through each of them for it. An empty text is none. */
const list = (values: readonly (string | number | null)[]): string =>
  `{${values.map(value => (value === null || value === '' ? 'NULL' : value)).join(',')}}`

/** Text as an element of such an array. */
const quoted = (text: string | null): string | null =>
  text === null ? null : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`

const attemptsOf = (fate: Fate): number | null =>
  fate.kind === 'later' || fate.kind === 'dead' ? fate.attempts : null

const answerOf = (outcome: Outcome): string | null => (outcome.status === undefined ? null : outcome.snippet)

/** A delivery whose turn has not come: an earlier event of its user is still to be delivered. */
export type Behind = Claim & { readonly eventId: string }

/**
 * Parks deliveries until the event before them has ended. It looks again for that event, as it may have ended
 * meanwhile, and holds it until the mark is committed: so it cannot end between the look and the mark. Results and
 * parkings are written by turns; the clean-up passes over what is held.
 */
export const parkDeliveries = async (db: Executor, owner: string, rows: readonly Behind[]): Promise<void> => {
  const claims = [...new Map(rows.map(row => [row.endpointId, row])).values()]
  await db.query(sql`
    with fence as (
      select l.partner_id, l.endpoint_id
      from endpoint_leases l
      join unnest(${claims.map(c => c.partnerId)}::uuid[], ${claims.map(c => c.endpointId)}::uuid[],
        ${claims.map(c => c.epoch)}::bigint[]) as mine (partner_id, endpoint_id, epoch)
        on mine.partner_id = l.partner_id and mine.endpoint_id = l.endpoint_id and mine.epoch = l.epoch
      where l.owner = ${owner}
      order by l.partner_id, l.endpoint_id
      for update of l
    )
    update deliveries d set parked = true
    from unnest(${rows.map(row => row.partnerId)}::uuid[], ${rows.map(row => row.endpointId)}::uuid[],
      ${rows.map(row => row.eventId)}::uuid[]) as row (partner_id, endpoint_id, event_id)
    join fence using (partner_id, endpoint_id)
    where d.partner_id = row.partner_id and d.endpoint_id = row.endpoint_id and d.event_id = row.event_id
      and exists (
        select from deliveries earlier
        where earlier.partner_id = d.partner_id and earlier.endpoint_id = d.endpoint_id
          and earlier.service_id = d.service_id and earlier.sequence_number < d.sequence_number
          and earlier.ordered
        order by earlier.sequence_number limit 1
        for key share)`)
}
