import type { ErasedUser } from '@benefit-enrolment/contract'
import { DAY_MS, formatTimestamp, type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'
import type { KeyReservation } from '../../idempotency/key-reservation.ts'
import type { CommandResult } from '../command.ts'
import type { SeenKey } from '../reading/load.ts'
import { refuse } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'

/** Judges a seen key by the table of contract §4: the answer of its command; `undefined` when it has lapsed and is free. */
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
): CommandResult<unknown> | undefined {
  const { now, real, userid, current, dataKey } = context
  const own = current?.serviceId === seen.serviceId ? current : undefined
  const replayed = seen.attemptId !== reservation.attemptId
  if (replayed && isLapsed(reservation, seen, { now, real, own })) return undefined
  const isSame = seen.requestHash.equals(reservation.requestHash)
  if (seen.userErasedAt !== undefined || own?.status === 'erased') {
    if (reservation.mode !== 'erase') return { ...refuse('user_erased'), replayed: false }
    const erasedAt = own?.erasedAt ?? seen.userErasedAt ?? 0
    if (isSame) return { reply: erasedAnswer(userid, seen.serviceId ?? '', erasedAt), replayed }
  }
  // An erase names its user itself, so its key with another request concerns another user.
  if (!isSame) return { ...refuse('idempotency_key_reused'), replayed: false }
  if (reservation.mode !== 'prefill') return { reply: seen.answer(dataKey), replayed }
  if (!replayed) return { reply: 'prefill saved', replayed }
  const isSuperseded = current !== undefined && current.prefillCount > (seen.prefillNumber ?? 0)
  return { ...refuse(isSuperseded ? 'prefill_superseded' : 'user_exists'), replayed }
}

/**
 * A prefill's key lapses with its entry, or a day after the user was erased, by business time. The 24 hours of other
 * keys are real time, like a token's.
 */
function isLapsed(
  reservation: KeyReservation,
  seen: SeenKey,
  { now, real, own }: { now: Instant; real: Instant; own: User | undefined },
): boolean {
  if (reservation.mode !== 'prefill') return seen.expiresAt <= real
  const erasedAt = own?.erasedAt ?? seen.userErasedAt
  if (erasedAt !== undefined) return erasedAt + DAY_MS <= now
  const writtenAt = own?.prefillWrittenAt ?? seen.userWrittenAt
  return (writtenAt === undefined ? seen.expiresAt : prefillExpiresAt(writtenAt)) <= now
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
