import { DAY_MS, type Instant, prefillExpiresAt } from '../../calendar/calendar.ts'
import type { KeyReservation } from '../../idempotency/key-reservation.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Command, CommandResult } from '../command.ts'
import { nameOf } from '../reading/load.ts'
import { dataKeyOf, type LoadedUser } from '../reading/loaded-user.ts'
import { keyName } from '../reading/seen-key.ts'
import { sealJson } from '../records/sealed.ts'
import type { User } from '../rules/state.ts'
import { idempotencyKeys, type ReservedKey } from '../saving/tables.ts'
import { addRow, removeRow } from '../saving/writes.ts'
import { judgeKey } from './key-decisions.ts'
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
  const judged = judgeKey(reservation, known, {
    now,
    real: state.real,
    userid: command.userid,
    current: loaded?.user,
    dataKey: () => dataKeyOf(loaded, command.partner),
  })
  if (!judged) removeRow(state.writes, idempotencyKeys, { partnerId, operation, keyHash })
  // The answer is sealed with the key of a user who did not exist yet when users were read.
  else if ('reply' in judged && judged.reply === undefined) throw new ReadTooEarly('newer key')
  return judged
}

/** Only a 2xx answer uses up a key; the answer is kept, sealed with the user's data key. */
export function spendKey(
  state: BatchState,
  { name, reservation }: NamedKey,
  spent: { partner: Partner; user: User; now: Instant; reply: unknown },
): void {
  const { partner, user, now, reply } = spent
  const { operation, keyHash, requestHash, attemptId, mode } = reservation
  const isPrefill = mode === 'prefill'
  const keepsAnswer = mode === 'keyed' && user.status !== 'erased'
  const key = keepsAnswer ? dataKeyOf(state.users.get(nameOf(user)), partner) : undefined
  const entry: ReservedKey = {
    partnerId: partner.partnerId,
    operation,
    keyHash,
    requestHash,
    attemptId,
    serviceId: user.serviceId,
    prefillNumber: isPrefill ? user.prefillCount : undefined,
    sealedAnswer: key && sealJson(key, reply, 'idempotency_keys', user),
    createdAt: state.writes.recordedAt,
    // A prefill's key lives at least as long as its entry.
    expiresAt: isPrefill ? prefillExpiresAt(now) : state.real + DAY_MS,
    answer: () => reply,
    userErasedAt: undefined,
    userWrittenAt: undefined,
  }
  addRow(state.writes, idempotencyKeys, entry)
  state.seenKeys.set(name, entry)
}
