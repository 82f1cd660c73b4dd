import type { Partner } from '../partners/partner.ts'
import { newKey } from '../vault/seal.ts'
import { type DocumentKind, openDataKey, openDocument, type Person, wrapDataKey } from './documents.ts'
import { type UserRow, userOf } from './rows.ts'
import type { User } from './state.ts'

/** What a batch holds of one user: the state as decided so far, and the sealed data, opened only when asked for. */
export type Dossier = {
  user: User
  /** As the database has it; `undefined` for a new user. */
  stored: User | undefined
  dataKey: Buffer | undefined
  wrappedKey: Buffer | undefined
  documents: Map<DocumentKind, Buffer | undefined>
  people: Map<DocumentKind, Person | undefined>
}

/** The dossier of a user that the database has, without its documents. */
export const dossierOf = (row: UserRow): Dossier => {
  const user = userOf(row)
  return {
    user,
    stored: user,
    dataKey: undefined,
    wrappedKey: row.wrapped_key ?? undefined,
    documents: new Map(),
    people: new Map(),
  }
}

/** The dossier of a new user, with a data key of its own. */
export const newDossier = (partner: Partner, user: User): Dossier => {
  const dataKey = newKey()
  return {
    user,
    stored: undefined,
    dataKey,
    wrappedKey: wrapDataKey(partner, user.serviceId, dataKey),
    documents: new Map(),
    people: new Map(),
  }
}

/** The user's data key, unwrapped once. */
export const dataKeyOf = (dossier: Dossier | undefined, partner: Partner): Buffer | undefined => {
  if (!dossier?.dataKey && dossier?.wrappedKey)
    dossier.dataKey = openDataKey(partner, dossier.user.serviceId, dossier.wrappedKey)
  return dossier?.dataKey
}

/** A document of the user, unsealed once. */
export const personOf = (dossier: Dossier, partner: Partner, kind: DocumentKind): Person | undefined => {
  if (dossier.people.has(kind)) return dossier.people.get(kind)
  const sealed = dossier.documents.get(kind)
  const key = sealed && dataKeyOf(dossier, partner)
  const person =
    sealed && key
      ? (openDocument(key, sealed, {
          kind,
          partnerId: dossier.user.partnerId,
          serviceId: dossier.user.serviceId,
        }) as Person)
      : undefined
  dossier.people.set(kind, person)
  return person
}
