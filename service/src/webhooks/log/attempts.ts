/** Reads the log of attempts, and opens the sealed answers in it. */
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { fragment, sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { openAnswer } from './sealed-answer.ts'

/** One attempt as the log keeps it. */
export type AttemptRow = {
  endpoint_id: string
  attempt: number
  started_at: Instant
  pair: 'current' | 'next'
  status: number | null
  error_class: string | null
  address: string | null
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  first_byte_ms: number | null
  total_ms: number
  /** What the endpoint answered to a failed attempt; null when nothing was kept, or when the user was erased. */
  answer: string | null
}

/** The attempts to deliver one event, oldest first. */
export async function findAttempts(db: Executor, partner: Partner, eventId: string): Promise<AttemptRow[]> {
  const rows = await db.query<SealedAttempt>(sql`
    select ${columns} from ${attemptsWithKeys}
    where a.partner_id = ${partner.partnerId} and a.event_id = ${eventId}
    order by a.started_at, a.attempt_id limit 1000`)
  return rows.map(row => openAttempt(partner, row))
}

/** The last attempt of each of these events at each endpoint, keyed by both ids with a space between them. */
export async function findLastAttempts(
  db: Executor,
  partner: Partner,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, AttemptRow>> {
  const rows = await db.query<SealedAttempt & { event_id: string }>(sql`
    select distinct on (a.event_id, a.endpoint_id) a.event_id, ${columns} from ${attemptsWithKeys}
    where a.partner_id = ${partner.partnerId} and a.event_id = any(${[...eventIds]}::uuid[])
    order by a.event_id, a.endpoint_id, a.started_at desc, a.attempt_id desc`)
  return new Map(
    rows.map(({ event_id, ...row }) => [`${event_id} ${row.endpoint_id}`, openAttempt(partner, row)]),
  )
}

const columns = fragment`a.attempt_id, a.endpoint_id, a.attempt, a.started_at, a.pair, a.status, a.error_class, a.address,
      a.dns_ms, a.connect_ms, a.tls_ms, a.first_byte_ms, a.total_ms, a.sealed_answer, e.service_id, k.wrapped_key`

const attemptsWithKeys = fragment`delivery_attempts a
    join events e on e.partner_id = a.partner_id and e.event_id = a.event_id
    left join data_keys k on k.partner_id = e.partner_id and k.service_id = e.service_id`

type SealedAttempt = Omit<AttemptRow, 'answer'> & {
  attempt_id: string
  sealed_answer: Buffer | null
  service_id: string
  wrapped_key: Buffer | null
}

function openAttempt(partner: Partner, sealed: SealedAttempt): AttemptRow {
  const {
    attempt_id: attemptId,
    service_id: serviceId,
    wrapped_key: wrappedKey,
    sealed_answer,
    ...row
  } = sealed
  const answer = sealed_answer && openAnswer(partner, sealed_answer, { serviceId, attemptId, wrappedKey })
  return { ...row, answer }
}
