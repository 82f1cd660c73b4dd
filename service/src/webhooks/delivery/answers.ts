import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Directory } from '../../partners/directory.ts'
import type { AttemptOutcome } from '../egress/outcome.ts'
import { sealAnswer } from '../log/sealed-answer.ts'
import type { Attempt, Result } from './result.ts'

/**
 * Seals what endpoints answered to failed attempts. Answers with a 2xx are not kept, nor any of a user whose key is gone
 * or cannot be opened.
 */
export async function sealAnswers(
  { database, directory }: { database: Pick<Database, 'query'>; directory: Pick<Directory, 'partner'> },
  results: readonly Result[],
): Promise<ReadonlyMap<Attempt, Buffer>> {
  const sealed = new Map<Attempt, Buffer>()
  const kept = results.flatMap(result =>
    result.attempts.flatMap(attempt => {
      const text = keptOf(attempt.outcome)
      return text === undefined ? [] : [{ result, attempt, text }]
    }),
  )
  if (kept.length === 0) return sealed
  const keys = await readKeys(
    database,
    kept.map(({ result }) => ({ partnerId: result.lease.partnerId, eventId: result.eventId })),
  )
  for (const { result, attempt, text } of kept) {
    const { partnerId } = result.lease
    const row = keys.get(`${partnerId} ${result.eventId}`)
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
