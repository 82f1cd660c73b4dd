import type { ErasedUser, ErrorCode } from '@benefit-enrolment/contract'
import { DAY_MS, formatTimestamp, type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'
import type { KeyReservation } from '../../idempotency/key-reservation.ts'
import type { Partner } from '../../partners/partner.ts'
import { openJson } from '../records/documents.ts'
import type { User } from '../rules/state.ts'
import type { ReservedKey } from './batch-writes.ts'
import type { KeyRow } from './load.ts'

/** A key that was used before. */
export type SeenKey = {
  readonly requestHash: Buffer
  readonly attemptId: string
  readonly serviceId: string | undefined
  readonly prefillNumber: number | undefined
  readonly expiresAt: Instant
  /** The first answer; `undefined` when it can no longer be opened. */
  readonly answer: (dataKey: () => Buffer | undefined) => unknown
  readonly userErasedAt: Instant | undefined
  readonly userWrittenAt: Instant | undefined
}

/** What a seen key means for a command: it has the answer, or the key has lapsed and is free. */
export type KeyDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'answered'; readonly code: ErrorCode; readonly replayed: boolean }
  | { readonly kind: 'answered'; readonly reply: unknown; readonly replayed: boolean }

/** The name of a key within a batch. */
export function keyName(partnerId: string, operation: string, keyHash: Buffer): string {
  return `${partnerId} ${operation} ${keyHash.toString('base64')}`
}

/** The seen key of a row. */
export function seenKeyOf(row: KeyRow): SeenKey {
  return {
    requestHash: row.request_hash,
    attemptId: row.attempt_id,
    serviceId: row.service_id ?? undefined,
    prefillNumber: row.prefill_number ?? undefined,
    expiresAt: row.expires_at,
    answer: dataKey => {
      const key = row.sealed_answer && dataKey()
      if (!row.sealed_answer || !key || !row.service_id) return undefined
      const user = { partnerId: row.partner_id, serviceId: row.service_id }
      return openJson(key, row.sealed_answer, 'idempotency_keys', user)
    },
    userErasedAt: row.user_erased_at ?? undefined,
    userWrittenAt: row.user_prefill_written_at ?? undefined,
  }
}

/** Judges a seen key by the table of contract §4. */
export function judgeKey(
  reservation: KeyReservation,
  seen: SeenKey,
  context: {
    now: Instant
    real: Instant
    userid: string
    current: User | undefined
    dataKey: () => Buffer | undefined
  },
): KeyDecision {
  const isMine = seen.attemptId === reservation.attemptId
  if (!isMine && isLapsed(reservation, seen, context)) return { kind: 'free' }
  const { current } = context
  const isErased =
    seen.userErasedAt !== undefined || (current?.serviceId === seen.serviceId && current?.status === 'erased')
  if (reservation.mode === 'erase' && isErased && seen.requestHash.equals(reservation.requestHash)) {
    const erasedAt =
      (current?.serviceId === seen.serviceId ? current?.erasedAt : undefined) ?? seen.userErasedAt
    return {
      kind: 'answered',
      reply: erasedAnswer(context.userid, seen.serviceId ?? '', erasedAt ?? 0),
      replayed: !isMine,
    }
  }
  // An erase names its user itself, so its key with another request concerns another user.
  if (isErased && reservation.mode !== 'erase')
    return { kind: 'answered', code: 'user_erased', replayed: false }
  if (!seen.requestHash.equals(reservation.requestHash)) {
    return { kind: 'answered', code: 'idempotency_key_reused', replayed: false }
  }
  if (reservation.mode === 'prefill') {
    if (isMine) return { kind: 'answered', reply: 'prefill saved', replayed: false }
    const isSuperseded = current !== undefined && current.prefillCount > (seen.prefillNumber ?? 0)
    return { kind: 'answered', code: isSuperseded ? 'prefill_superseded' : 'user_exists', replayed: true }
  }
  return { kind: 'answered', reply: seen.answer(context.dataKey), replayed: !isMine }
}

/**
 * A prefill's key lapses with its entry, or a day after the user was erased, by business time. The 24 hours of other
 * keys are real time, like a token's.
 */
function isLapsed(
  reservation: KeyReservation,
  seen: SeenKey,
  context: { now: Instant; real: Instant; current: User | undefined },
): boolean {
  if (reservation.mode !== 'prefill') return seen.expiresAt <= context.real
  const own = context.current?.serviceId === seen.serviceId ? context.current : undefined
  const erasedAt = own?.erasedAt ?? seen.userErasedAt
  if (erasedAt !== undefined) return erasedAt + DAY_MS <= context.now
  const writtenAt = own?.prefillWrittenAt ?? seen.userWrittenAt
  return (writtenAt === undefined ? seen.expiresAt : prefillExpiresAt(writtenAt)) <= context.now
}

/** The row for a reserved key; keyed answers live 24 hours, a prefill's key at least as long as its entry. */
export function reservedKey(
  reservation: KeyReservation,
  context: {
    partner: Partner
    user: User
    now: Instant
    real: Instant
    sealedAnswer: Buffer | undefined
  },
): ReservedKey & { serviceId: string } {
  return {
    partnerId: context.partner.partnerId,
    operation: reservation.operation,
    keyHash: reservation.keyHash,
    requestHash: reservation.requestHash,
    attemptId: reservation.attemptId,
    serviceId: context.user.serviceId,
    prefillNumber: reservation.mode === 'prefill' ? context.user.prefillCount : undefined,
    sealedAnswer: context.sealedAnswer,
    expiresAt: reservation.mode === 'prefill' ? prefillExpiresAt(context.now) : context.real + DAY_MS,
  }
}

/** The answer of an erase: all that is left of the user. */
export function erasedAnswer(userid: string, serviceId: string, erasedAt: Instant): ErasedUser {
  return {
    userid,
    serviceid: serviceId,
    status: 'erased',
    erasedat: formatTimestamp(erasedAt),
  }
}
