import type { Partner } from '../../partners/partner.ts'
import { type Binding, seal, unseal, unwrapKey, wrapKey } from '../../vault/seal.ts'

/** The kinds of sealed documents: prefilled data, the data of the account, a registration's draft. */
export type DocumentKind = 'prefill' | 'profile' | 'draft'

/** The user to whom sealed data is bound. */
type Place = { readonly partnerId: string; readonly serviceId: string }

function bindingOf(purpose: string, { partnerId, serviceId }: Place): Binding {
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

/** Seals a document for one user. */
export function sealDocument(
  dataKey: Buffer,
  content: unknown,
  place: Place & { readonly kind: DocumentKind },
): Buffer {
  return seal(dataKey, JSON.stringify(content), bindingOf(`documents.${place.kind}`, place))
}

/** Opens a document of one user. Throws for another key, another user or another kind. */
export function openDocument(
  dataKey: Buffer,
  sealed: Buffer,
  place: Place & { readonly kind: DocumentKind },
): unknown {
  return JSON.parse(unseal(dataKey, sealed, bindingOf(`documents.${place.kind}`, place)).toString('utf8'))
}

/** Seals an answer that is kept under an Idempotency-Key. */
export function sealAnswer(dataKey: Buffer, answer: unknown, place: Place): Buffer {
  return seal(dataKey, JSON.stringify(answer), bindingOf('idempotency_keys', place))
}

/** Opens an answer that is kept under an Idempotency-Key. Throws for another key or another user. */
export function openAnswer(dataKey: Buffer, sealed: Buffer, place: Place): unknown {
  return JSON.parse(unseal(dataKey, sealed, bindingOf('idempotency_keys', place)).toString('utf8'))
}
