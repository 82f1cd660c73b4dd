import type { PlainDate } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { type Binding, seal, unseal, unwrapKey, wrapKey } from '../../vault/seal.ts'
import type { Residence } from '../rules/terms.ts'

/** The kinds of sealed documents: prefilled data, the data of the account, a registration's draft. */
export type DocumentKind = 'prefill' | 'profile' | 'draft'

/** An address in the form in which it is kept; absent means not given. */
export type PersonAddress = {
  readonly addline1?: string
  readonly addline2?: string
  readonly addline3?: string
  readonly city?: string
  readonly state?: string
  readonly zipcode?: string
}

/** Personal data of one user; absent means not given. */
export type Person = {
  readonly firstname?: string
  readonly lastname?: string
  readonly email?: string
  readonly zipcode?: string
  readonly state?: string
  readonly dob?: string
  readonly phone?: string
  readonly gender?: string
  readonly address?: PersonAddress
}

/** Where the person lives and when they were born; `undefined` while one of the two is unknown. */
export function residenceOf(person: Person | undefined): Residence | undefined {
  const state = person?.state ?? person?.address?.state
  const zipcode = person?.zipcode ?? person?.address?.zipcode
  if (!person?.dob || !state || !zipcode) return undefined
  return { dob: person.dob as PlainDate, state, zipcode }
}

function documentBinding(kind: DocumentKind, partnerId: string, serviceId: string): Binding {
  return {
    purpose: `documents.${kind}`,
    partnerId,
    serviceId,
  }
}

function keyBinding(partnerId: string, serviceId: string): Binding {
  return {
    purpose: 'data_keys',
    partnerId,
    serviceId,
  }
}

/** A user's data key, wrapped by the partner's key. */
export function wrapDataKey(partner: Partner, serviceId: string, key: Buffer): Buffer {
  return wrapKey(partner.key, key, keyBinding(partner.partnerId, serviceId))
}

/** Opens a wrapped data key. Throws when it was wrapped by another key or for another user. */
export function openDataKey(partner: Partner, serviceId: string, wrapped: Buffer): Buffer {
  return unwrapKey(
    id => (id === partner.key.id ? partner.key.key : undefined),
    wrapped,
    keyBinding(partner.partnerId, serviceId),
  )
}

/** Seals a document for one user. */
export function sealDocument(
  dataKey: Buffer,
  content: unknown,
  place: { kind: DocumentKind; partnerId: string; serviceId: string },
): Buffer {
  return seal(dataKey, JSON.stringify(content), documentBinding(place.kind, place.partnerId, place.serviceId))
}

/** Opens a document of one user. */
export function openDocument(
  dataKey: Buffer,
  sealed: Buffer,
  place: { kind: DocumentKind; partnerId: string; serviceId: string },
): unknown {
  return JSON.parse(
    unseal(dataKey, sealed, documentBinding(place.kind, place.partnerId, place.serviceId)).toString('utf8'),
  )
}

/** Seals an answer that is kept under an Idempotency-Key. */
export function sealAnswer(
  dataKey: Buffer,
  answer: unknown,
  place: { partnerId: string; serviceId: string },
): Buffer {
  return seal(dataKey, JSON.stringify(answer), answerBinding(place))
}

/** Opens an answer that is kept under an Idempotency-Key. */
export function openAnswer(
  dataKey: Buffer,
  sealed: Buffer,
  place: { partnerId: string; serviceId: string },
): unknown {
  return JSON.parse(unseal(dataKey, sealed, answerBinding(place)).toString('utf8'))
}

function answerBinding({ partnerId, serviceId }: { partnerId: string; serviceId: string }): Binding {
  return { purpose: 'idempotency_keys', partnerId, serviceId }
}
