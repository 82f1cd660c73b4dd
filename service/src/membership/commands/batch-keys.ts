import type { Instant } from '../../calendar/calendar.ts'
import type { KeyReservation } from '../../idempotency/key-reservation.ts'
import type { Partner } from '../../partners/partner.ts'
import { sealJson } from '../records/documents.ts'
import { refuse } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'
import type { Command, CommandResult } from './command.ts'
import { judgeKey, type KeyDecision, keyName, reservedKey } from './key-decisions.ts'
import { nameOf } from './load.ts'
import { dataKeyOf, type LoadedUser } from './loaded-user.ts'
import { type BatchState, ReadTooEarly } from './read-batch.ts'

/** A command's key with its name within the batch, which is made once. */
export type NamedKey = { readonly name: string; readonly reservation: KeyReservation }

/** The key of a reservation, with its name. */
export function namedKey({ partnerId }: Partner, reservation: KeyReservation): NamedKey {
  return { name: keyName(partnerId, reservation.operation, reservation.keyHash), reservation }
}

/**
 * The answer of a command whose key was seen before; `undefined` when the key is free. Throws `ReadTooEarly` when the
 * answer can be opened only after its user was read.
 */
export function judgeSeenKey(
  state: BatchState,
  { name, reservation }: NamedKey,
  { command, loaded, now }: { command: Command<unknown>; loaded: LoadedUser | undefined; now: Instant },
): CommandResult<unknown> | undefined {
  const known = state.seenKeys.get(name)
  if (!known) return undefined
  const { partnerId } = command.partner
  const { operation, keyHash } = reservation
  const decision = judgeKey(reservation, known, {
    now,
    real: state.real,
    userid: command.userid,
    current: loaded?.user,
    dataKey: () => dataKeyOf(loaded, command.partner),
  })
  if (decision.kind === 'answered') {
    // The answer is sealed with the key of a user who did not exist yet when users were read.
    if ('reply' in decision && decision.reply === undefined) throw new ReadTooEarly('newer key')
    return answered(decision)
  }
  state.writes.staleKeys.push({ partnerId, operation, keyHash })
  return undefined
}

function answered(decision: Extract<KeyDecision, { kind: 'answered' }>): CommandResult<unknown> {
  return 'code' in decision
    ? { ...refuse(decision.code), replayed: decision.replayed }
    : { reply: decision.reply, replayed: decision.replayed }
}

/** Only a 2xx answer uses up a key; the answer is kept, sealed with the user's data key. */
export function spendKey(
  state: BatchState,
  { name, reservation }: NamedKey,
  spent: { partner: Partner; user: User; now: Instant; reply: unknown },
): void {
  const { partner, user, reply } = spent
  const keepsAnswer = reservation.mode === 'keyed' && user.status !== 'erased'
  const key = keepsAnswer ? dataKeyOf(state.users.get(nameOf(user)), partner) : undefined
  const sealedAnswer = key && sealJson(key, reply, 'idempotency_keys', user)
  const entry = reservedKey(reservation, { partner, user, now: spent.now, real: state.real, sealedAnswer })
  state.writes.keys.push(entry)
  state.seenKeys.set(name, {
    requestHash: entry.requestHash,
    attemptId: entry.attemptId,
    serviceId: entry.serviceId,
    prefillNumber: entry.prefillNumber,
    expiresAt: entry.expiresAt,
    answer: () => reply,
    userErasedAt: undefined,
    userWrittenAt: undefined,
  })
}
