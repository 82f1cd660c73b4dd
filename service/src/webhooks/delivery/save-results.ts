import { bytes, integers, texts, timestamps, uuids } from '../../db/binary-array.ts'
import type { Database, Executor } from '../../db/database.ts'
import { type Fragment, fragment, nothing, type Query, sql } from '../../db/sql.ts'
import type { Directory } from '../../partners/directory.ts'
import type { AttemptOutcome } from '../egress/outcome.ts'
import type { Disposition } from '../endpoint/verdict.ts'
import { letFollow } from '../log/deliveries.ts'
import { sealAnswer } from '../log/sealed-answer.ts'
import type { Attempt } from './attempt.ts'
import type { Result } from './result.ts'

/** The answers to keep, sealed. */
export type SealedAnswers = ReadonlyMap<Attempt, Buffer>

/**
 * The statements that write results: the log of attempts, and what becomes of the deliveries. A result changes its delivery
 * only while the claim stands under which the attempt was made: a process that stood still until its claim had ended
 * changes nothing that another one has written since. What was requested is logged in any case. Set `isRepeat` when the
 * first write may have committed; only then are attempts ignored that are in the log already, because checking makes a
 * batch a tenth slower.
 */
export function resultStatements(
  results: readonly Result[],
  answers: SealedAnswers,
  isRepeat: boolean,
): Query[] {
  if (results.length === 0) return []
  const dead = results.filter(({ disposition }) => disposition.kind === 'dead')
  // Statements of their own, as Citus would take the rows of one that also inserts from node to node.
  return [
    ...(dead.length > 0 ? [addDead(dead)] : []),
    endDeliveries(results),
    logAttempts(results, answers, isRepeat),
  ]
}

const isClaimed = fragment`d.partner_id = r.partner_id and d.event_id = r.event_id and d.endpoint_id = r.endpoint_id
  and d.due_at = r.claimed_until and d.held_from is not null`

/** The names of deliveries with the ends of their claims. */
function claimsOf(results: readonly Result[]): Fragment {
  return fragment`${uuids(results.map(({ target }) => target.partnerId))}::uuid[],
    ${uuids(results.map(({ target }) => target.endpointId))}::uuid[],
    ${uuids(results.map(({ item }) => item.event_id))}::uuid[],
    ${timestamps(results.map(({ item }) => item.claimed_until))}::timestamptz[]`
}

/**
 * Removes what needs no further attempt, and sets the time of the next one for the rest. Where one user's events are to
 * arrive in order, the next of them is due again.
 */
function endDeliveries(results: readonly Result[]): Query {
  const later = results.map(({ disposition }) => (disposition.kind === 'later' ? disposition : undefined))
  return sql`
    with r as (
      select * from unnest(${claimsOf(results)},
        ${texts(results.map(({ disposition }) => disposition.kind))}::text[],
        ${integers(results.map(({ disposition }) => attemptsOf(disposition)))}::integer[],
        ${timestamps(later.map(disposition => disposition?.dueAt))}::timestamptz[],
        ${texts(later.map(disposition => disposition?.queue))}::text[])
        as r (partner_id, endpoint_id, event_id, claimed_until, disposition, attempts, due_at, work)
    ), postponed as (
      update deliveries d set attempts = coalesce(r.attempts, d.attempts), work = coalesce(r.work, d.work),
        due_at = coalesce(r.due_at, d.held_from), held_from = null
      from r where r.disposition in ('later', 'unchanged') and ${isClaimed}
    ), ended as (
      delete from deliveries d using r where r.disposition in ('delivered', 'dead') and ${isClaimed}
      returning d.partner_id, d.event_id, d.endpoint_id, d.service_id, d.position, d.ordered, d.work, r.disposition
    ), followed as (${letFollow()})
    delete from dead_deliveries d using ended
    where ended.disposition = 'delivered' and ended.work = 'replay' and d.partner_id = ended.partner_id
      and d.event_id = ended.event_id and d.endpoint_id = ended.endpoint_id`
}

function attemptsOf(disposition: Disposition): number | null {
  return disposition.kind === 'later' || disposition.kind === 'dead' ? disposition.attempts : null
}

/** Which of these results are about claims that still stand, each as its endpoint's and its event's id; they are locked. */
export async function standingClaims(tx: Executor, results: readonly Result[]): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ endpoint_id: string; event_id: string }>(sql`
    select d.endpoint_id, d.event_id
    from unnest(${claimsOf(results)}) as r (partner_id, endpoint_id, event_id, claimed_until)
    join deliveries d on ${isClaimed}
    for update of d`)
  return new Set(rows.map(row => `${row.endpoint_id} ${row.event_id}`))
}

/** Keeps deliveries that are given up, for a replay. */
function addDead(dead: readonly Result[]): Query {
  return sql`
    insert into dead_deliveries (partner_id, event_id, endpoint_id, attempts, reason, died_at)
    select d.partner_id, d.event_id, d.endpoint_id, r.attempts, 'attempts', r.died_at
    from unnest(${claimsOf(dead)}, ${integers(dead.map(({ disposition }) => attemptsOf(disposition)))}::integer[],
      ${timestamps(dead.map(({ endedAt }) => endedAt))}::timestamptz[])
      as r (partner_id, endpoint_id, event_id, claimed_until, attempts, died_at)
    join deliveries d on ${isClaimed}
    on conflict (partner_id, event_id, endpoint_id) do update
      set attempts = excluded.attempts, reason = excluded.reason, died_at = excluded.died_at`
}

/** Adds the attempts to the log. */
function logAttempts(results: readonly Result[], answers: SealedAnswers, isRepeat: boolean): Query {
  const logged = results.flatMap(({ target, item, attempts }) =>
    attempts.map(attempt => ({ target, item, attempt, outcome: attempt.outcome })),
  )
  const timings = logged.map(({ outcome }) => outcome.timings)
  return sql`
    insert into delivery_attempts (partner_id, endpoint_id, event_id, attempt_id, attempt, started_at, pair, status,
      error_class, address, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, sealed_answer)
    select * from unnest(
      ${uuids(logged.map(({ target }) => target.partnerId))}::uuid[],
      ${uuids(logged.map(({ target }) => target.endpointId))}::uuid[],
      ${uuids(logged.map(({ item }) => item.event_id))}::uuid[],
      ${uuids(logged.map(({ attempt }) => attempt.attemptId))}::uuid[],
      ${integers(logged.map(({ item }) => item.attempts + 1))}::integer[],
      ${timestamps(logged.map(({ attempt }) => attempt.startedAt))}::timestamptz[],
      ${texts(logged.map(({ attempt }) => attempt.pair))}::text[],
      ${integers(logged.map(({ outcome }) => outcome.status))}::integer[],
      ${texts(logged.map(({ outcome }) => outcome.errorClass))}::text[],
      ${texts(logged.map(({ outcome }) => outcome.address))}::text[],
      ${integers(timings.map(t => t.dnsMs))}::integer[],
      ${integers(timings.map(t => t.connectMs))}::integer[],
      ${integers(timings.map(t => t.tlsMs))}::integer[],
      ${integers(timings.map(t => t.firstByteMs))}::integer[],
      ${integers(timings.map(t => t.totalMs))}::integer[],
      ${bytes(logged.map(({ attempt }) => answers.get(attempt)))}::bytea[])
    ${isRepeat ? fragment`on conflict do nothing` : nothing}`
}

/**
 * Seals what endpoints answered to failed attempts. Answers with a 2xx are not kept, nor any of a user whose key is gone
 * or cannot be opened.
 */
export async function sealAnswers(
  { database, directory }: { database: Pick<Database, 'query'>; directory: Pick<Directory, 'partner'> },
  results: readonly Result[],
): Promise<SealedAnswers> {
  const sealed = new Map<Attempt, Buffer>()
  const kept = results.flatMap(({ target, item, attempts }) =>
    attempts.flatMap(attempt => {
      const text = keptOf(attempt.outcome)
      return text === undefined
        ? []
        : [{ partnerId: target.partnerId, eventId: item.event_id, attempt, text }]
    }),
  )
  if (kept.length === 0) return sealed
  const keys = await readKeys(database, kept)
  for (const { partnerId, eventId, attempt, text } of kept) {
    const row = keys.get(`${partnerId} ${eventId}`)
    const partner = row && (await directory.partner(partnerId))
    if (!row || !partner) continue
    const of = { serviceId: row.service_id, attemptId: attempt.attemptId, wrappedKey: row.wrapped_key }
    const answer = sealedOrNothing(partner, text, of)
    if (answer) sealed.set(attempt, answer)
  }
  return sealed
}

/** Without its answer an attempt can still be counted; otherwise the delivery would be attempted again for ever. */
function sealedOrNothing(...sealing: Parameters<typeof sealAnswer>): Buffer | undefined {
  try {
    return sealAnswer(...sealing)
  } catch {
    return undefined
  }
}

/**
 * The text of an answer if it is kept: the answer to a failed attempt helps to find the cause, that of a success does
 * not.
 */
function keptOf(outcome: AttemptOutcome): string | undefined {
  if (outcome.status === undefined) return outcome.note
  if (outcome.snippet === '') return undefined
  return outcome.status >= 200 && outcome.status <= 299 ? undefined : outcome.snippet
}

type KeyRow = { partner_id: string; event_id: string; service_id: string; wrapped_key: Buffer | null }

async function readKeys(
  database: Pick<Database, 'query'>,
  wanted: readonly { partnerId: string; eventId: string }[],
): Promise<ReadonlyMap<string, KeyRow>> {
  const partnerIds = wanted.map(one => one.partnerId)
  const rows = await database.query<KeyRow>(sql`
    select e.partner_id, e.event_id, e.service_id, k.wrapped_key
    from unnest(${partnerIds}::uuid[], ${wanted.map(one => one.eventId)}::uuid[]) as wanted (partner_id, event_id)
    join events e on e.partner_id = wanted.partner_id and e.event_id = wanted.event_id
    left join data_keys k on k.partner_id = e.partner_id and k.service_id = e.service_id`)
  return new Map(rows.map(row => [`${row.partner_id} ${row.event_id}`, row]))
}
