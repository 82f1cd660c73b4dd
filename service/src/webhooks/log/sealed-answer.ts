import { openDataKey } from '../../membership/records/sealed.ts'
import type { Partner } from '../../partners/partner.ts'
import { seal, unseal } from '../../vault/seal.ts'
import { NIL_UUID } from '../../vault/uuid.ts'

/** The attempt that an answer belongs to, and its user's wrapped data key, which is gone after an erasure. */
type AnsweredAttempt = {
  readonly serviceId: string
  readonly attemptId: string
  readonly wrappedKey: Buffer | null
}

/**
 * Seals what an endpoint answered. An answer may echo personal data, so it is sealed with the data key of the event's
 * user, and an erasure makes it unreadable. A test event has no user; its answer is sealed with the partner's key.
 * `undefined` when the user's key is gone.
 */
export function sealAnswer(partner: Partner, text: string, of: AnsweredAttempt): Buffer | undefined {
  const key = keyFor(partner, of)
  return key && seal(key, text, bindingOf(partner, of))
}

/** Opens what `sealAnswer` sealed; null when the user's key is gone. */
export function openAnswer(partner: Partner, sealed: Buffer, of: AnsweredAttempt): string | null {
  const key = keyFor(partner, of)
  return key ? unseal(key, sealed, bindingOf(partner, of)).toString('utf8') : null
}

function keyFor(partner: Partner, { serviceId, wrappedKey }: AnsweredAttempt): Buffer | undefined {
  if (serviceId === NIL_UUID) return partner.key.key
  return wrappedKey === null ? undefined : openDataKey(partner, serviceId, wrappedKey)
}

function bindingOf({ partnerId }: Partner, { serviceId, attemptId }: AnsweredAttempt) {
  return { purpose: `delivery_attempts ${attemptId}`, partnerId, serviceId }
}
