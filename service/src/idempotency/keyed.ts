/** Writes about a partner as a whole, each in one transaction with its idempotency key. */
import type { IncomingHttpHeaders } from 'node:http'
import { DAY_MS, type Instant } from '../calendar/calendar.ts'
import { CommitUnknown, type Database, type Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Partner } from '../partners/partner.ts'
import { seal, unseal } from '../vault/seal.ts'
import { idempotencyKeyOf, type KeyReservation, reservationOf, type SameRequest } from './key-reservation.ts'

/** A write about the partner as a whole, not about one user. */
type KeyedWrite<Reply> = {
  readonly request: SameRequest & {
    readonly headers: IncomingHttpHeaders
    readonly caller: { readonly partner: Partner }
    readonly setHeader: (name: string, value: string) => void
  }
  /** Performs the write inside the transaction. Throws ServiceError to refuse it; then nothing is written. */
  readonly effect: (tx: Executor) => Promise<Reply>
  /** The part of the answer that is stored for a repeat of the request; it leaves secrets out. */
  readonly stored?: (reply: Reply) => Reply
  /** Whether the stored answer is about an erased user; a repeat is then refused with `user_erased`. */
  readonly isErased?: (tx: Executor, stored: Reply) => Promise<boolean>
}

const KEPT_MS = DAY_MS

type KeyRow = { attempt_id: string; request_hash: Buffer; sealed_answer: Buffer | null; expires_at: Instant }

/**
 * Runs a write in one transaction with its idempotency key, if one is sent (contract §4, last paragraph). A repeat
 * of the same request gets the first answer; another request with the same key is refused. Rejects with
 * `idempotency_key_invalid`, `idempotency_key_reused` or `user_erased`, and with the refusals of the write itself.
 */
export async function runKeyed<Reply>(
  write: KeyedWrite<Reply>,
  context: { database: Database; real: () => Instant },
): Promise<Reply> {
  const { request, effect } = write
  const key = idempotencyKeyOf(request.headers)
  if (key === undefined) return context.database.transaction(effect)
  const { partner } = request.caller
  const reservation = reservationOf(key, request, { partner, mode: 'keyed' })
  const purpose = `idempotency_keys.answer ${reservation.operation} ${reservation.keyHash.toString('base64')}`
  const binding = { purpose, partnerId: partner.partnerId }
  const now = context.real()
  const reserved = { ...reservation, partnerId: partner.partnerId, now }
  let mine: { reply: Reply } | undefined

  const run = (): Promise<Reply> =>
    context.database.transaction(async tx => {
      const seen = await reserve(tx, reserved)
      if (seen?.attempt_id === reservation.attemptId && mine) return mine.reply
      if (seen && seen.expires_at > now) {
        const sealed = seen.sealed_answer ?? Buffer.alloc(0)
        const answer = JSON.parse(unseal(partner.key.key, sealed, binding).toString('utf8')) as Reply
        if (await write.isErased?.(tx, answer)) throw new ServiceError('user_erased')
        if (!seen.request_hash.equals(reservation.requestHash))
          throw new ServiceError('idempotency_key_reused')
        request.setHeader('Idempotency-Replayed', 'true')
        return answer
      }
      const reply = await effect(tx)
      const stored = JSON.stringify(write.stored ? write.stored(reply) : reply)
      await fillKey(tx, reserved, seal(partner.key.key, stored, binding))
      mine = { reply }
      return reply
    })
  try {
    return await run()
  } catch (error) {
    // If the first run was committed after all, the second one finds its reservation.
    if (error instanceof CommitUnknown) return run()
    throw error
  }
}

type NewKey = KeyReservation & { readonly partnerId: string; readonly now: Instant }

/**
 * Reserves a key, or returns its row when it was reserved before. The clean-up may delete an expired row between the two
 * looks: then the key is reserved anew, as nothing would hold the answer otherwise.
 */
async function reserve(tx: Executor, key: NewKey): Promise<KeyRow | undefined> {
  for (;;) {
    if (await insertKey(tx, key)) return undefined
    const seen = await lockKey(tx, key)
    if (seen) return seen
  }
}

/** Reserves a key; false when it was reserved before. Waits for a transaction that is reserving it right now. */
async function insertKey(tx: Executor, key: NewKey): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into idempotency_keys (partner_id, operation, key_hash, request_hash, attempt_id, created_at, expires_at)
    values (${key.partnerId}, ${key.operation}, ${key.keyHash}, ${key.requestHash}, ${key.attemptId},
      ${timestamp(key.now)}, ${timestamp(key.now + KEPT_MS)})
    on conflict do nothing returning 1`)
  return rows.length > 0
}

async function lockKey(tx: Executor, key: NewKey): Promise<KeyRow | undefined> {
  const [row] = await tx.query<KeyRow>(sql`
    select attempt_id, request_hash, sealed_answer, expires_at from idempotency_keys
    where partner_id = ${key.partnerId} and operation = ${key.operation} and key_hash = ${key.keyHash}
    for update`)
  return row
}

/** Stores the answer under a key that was just reserved, or that had expired. */
async function fillKey(tx: Executor, key: NewKey, answer: Buffer): Promise<void> {
  await tx.query(sql`
    update idempotency_keys set request_hash = ${key.requestHash}, attempt_id = ${key.attemptId},
      sealed_answer = ${answer}, created_at = ${timestamp(key.now)}, expires_at = ${timestamp(key.now + KEPT_MS)}
    where partner_id = ${key.partnerId} and operation = ${key.operation} and key_hash = ${key.keyHash}`)
}
