import type { Partner } from '../../partners/partner.ts'
import { type Binding, seal, unseal, unwrapKey, wrapKey } from '../../vault/seal.ts'
import type { UserIds } from './user-ids.ts'

/** The kinds of sealed documents: prefilled data, the data of the account, a registration's draft. */
export type DocumentKind = 'prefill' | 'profile' | 'draft'

/** What is sealed with a user's data key: mostly the name of the table that holds it. */
type SealedKind =
  | `documents.${DocumentKind}`
  | 'idempotency_keys'
  | 'beneficiary_designations'
  | 'confirmations'
  | 'insurer_lines'
  | 'insurer_lines.answer'

function bindingOf(purpose: string, { partnerId, serviceId }: UserIds): Binding {
  return { purpose, partnerId, serviceId }
}

function keyBinding({ partnerId }: Partner, serviceId: string): Binding {
  return bindingOf('data_keys', { partnerId, serviceId })
}

/** A user's data key, wrapped by the partner's key. */
export function wrapDataKey(partner: Partner, serviceId: string, key: Buffer): Buffer {
  return wrapKey(partner.key, key, keyBinding(partner, serviceId))
}

/** Opens a wrapped data key. Throws when it was wrapped by another key or for another user. */
export function openDataKey(partner: Partner, serviceId: string, wrapped: Buffer): Buffer {
  return unwrapKey(
    id => (id === partner.key.id ? partner.key.key : undefined),
    wrapped,
    keyBinding(partner, serviceId),
  )
}

/** Seals data with a user's data key, as JSON that only opens for this user and as this kind. */
export function sealJson(dataKey: Buffer, content: unknown, kind: SealedKind, user: UserIds): Buffer {
  return seal(dataKey, JSON.stringify(content), bindingOf(kind, user))
}

/** Opens what `sealJson` sealed. Throws for another key, another user or another kind. */
export function openJson(dataKey: Buffer, sealed: Buffer, kind: SealedKind, user: UserIds): unknown {
  return JSON.parse(unseal(dataKey, sealed, bindingOf(kind, user)).toString('utf8'))
}
