import type { IncomingHttpHeaders } from 'node:http'
import type { Instant } from '../calendar/calendar.ts'
import { CommitUnknown, type Database, type Executor } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { sql, timestamp } from '../db/sql.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from '../partners/partner.ts'
import { seal, unseal } from '../vault/seal.ts'
import { claimOf, idempotencyKeyOf, type SameRequest } from './claim-of.ts'

/** A write that is about the partner as a whole, not about one user. */
export type KeyedWrite<Reply> = {
  readonly request: SameRequest & {
    readonly headers: IncomingHttpHeaders
    readonly caller: { readonly partner: Partner }
    readonly setHeader: (name: string, value: string) => void
  }
  /** Does it, inside the transaction; throws ServiceError to refuse, and then nothing is written. */
  readonly effect: (tx: Executor) => Promise<Reply>
  /** What of the answer is kept for a repeat; secrets are not. */
  readonly kept?: (reply: Reply) => Reply
  /** Whether the kept answer is about an erased user: then it is not given again. */
  readonly isErased?: (tx: Executor, kept: Reply) => Promise<boolean>
}

const KEPT_MS = 24 * 3_600_000

type KeyRow = { attempt_id: string; request_hash: Buffer; sealed_answer: Buffer | null; expires_at: Instant }

/**
 * Runs a write in one transaction with its idempotency key, where one is sent (contract §4, last paragraph): the same
 * request again gets the first answer, another one is refused. Rejects with `idempotency_key_invalid`,
 * `idempotency_key_reused`, `user_erased` or `unavailable`, and with what the write itself refuses.
 */
export const runKeyed = async <Reply>(
  write: KeyedWrite<Reply>,
  context: { database: Database; real: () => Instant },
): Promise<Reply> => {
  const { request, effect } = write
  const key = idempotencyKeyOf(request.headers)
  if (key === undefined) return orUnavailable(() => context.database.transaction(effect))
  const { partner } = request.caller
  const claim = claimOf(key, request, { partner, mode: 'keyed' })
  const name = { partnerId: partner.partnerId, operation: claim.operation, keyHash: claim.keyHash }
  const purpose = `idempotency_keys.answer ${claim.operation} ${claim.keyHash.toString('base64')}`
  const binding = { purpose, partnerId: partner.partnerId }
  const now = context.real()
  let mine: { reply: Reply } | undefined

  const run = (): Promise<Reply> =>
    context.database.transaction(async tx => {
      const isClaimed = await insertKey(tx, { ...name, ...claim, now })
      const seen = isClaimed ? undefined : await lockKey(tx, name)
      if (seen?.attempt_id === claim.attemptId && mine) return mine.reply
      if (seen && seen.expires_at > now) {
        const sealed = seen.sealed_answer ?? Buffer.alloc(0)
        const answer = JSON.parse(unseal(partner.key.key, sealed, binding).toString('utf8')) as Reply
        if (await write.isErased?.(tx, answer)) throw new ServiceError('user_erased')
        if (!seen.request_hash.equals(claim.requestHash)) throw new ServiceError('idempotency_key_reused')
        request.setHeader('Idempotency-Replayed', 'true')
        return answer
      }
      const reply = await effect(tx)
      const kept = JSON.stringify(write.kept ? write.kept(reply) : reply)
      await fillKey(tx, { ...name, ...claim, now, answer: seal(partner.key.key, kept, binding) })
      mine = { reply }
      return reply
    })
  return orUnavailable(async () => {
    try {
      return await run()
    } catch (error) {
      // The second run finds the claim of the first where that one took place.
      if (error instanceof CommitUnknown) return run()
      throw error
    }
  })
}

/** Runs work on the database; what it cannot do now becomes `unavailable`. */
export const orUnavailable = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CommitUnknown || failureOf(error).unavailable)
      throw new ServiceError('unavailable', undefined, { cause: error })
    throw error
  }
}

type Name = { partnerId: string; operation: string; keyHash: Buffer }
type NewKey = Name & { requestHash: Buffer; attemptId: string; now: Instant }

/** False when the key was claimed before; waits for one that is being claimed right now. */
const insertKey = async (tx: Executor, key: NewKey): Promise<boolean> => {
  const rows = await tx.query(sql`
    insert into idempotency_keys (partner_id, operation, key_hash, request_hash, attempt_id, created_at, expires_at)
    values (${key.partnerId}, ${key.operation}, ${key.keyHash}, ${key.requestHash}, ${key.attemptId},
      ${timestamp(key.now)}, ${timestamp(key.now + KEPT_MS)})
    on conflict do nothing returning 1`)
  return rows.length > 0
}

const lockKey = async (tx: Executor, name: Name): Promise<KeyRow | undefined> => {
  const [row] = await tx.query<KeyRow>(sql`
    select attempt_id, request_hash, sealed_answer, expires_at from idempotency_keys
    where partner_id = ${name.partnerId} and operation = ${name.operation} and key_hash = ${name.keyHash}
    for update`)
  return row
}

/** Stores the answer; a key that had lapsed is taken over. */
const fillKey = async (tx: Executor, key: NewKey & { answer: Buffer }): Promise<void> => {
  await tx.query(sql`
    update idempotency_keys set request_hash = ${key.requestHash}, attempt_id = ${key.attemptId},
      sealed_answer = ${key.answer}, created_at = ${timestamp(key.now)}, expires_at = ${timestamp(key.now + KEPT_MS)}
    where partner_id = ${key.partnerId} and operation = ${key.operation} and key_hash = ${key.keyHash}`)
}
