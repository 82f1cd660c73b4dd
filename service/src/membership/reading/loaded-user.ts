import type { Partner } from '../../partners/partner.ts'
import { newKey } from '../../vault/seal.ts'
import { type DocumentKind, openDataKey, openJson, wrapDataKey } from '../records/sealed.ts'
import type { Person } from '../rules/person.ts'
import type { User } from '../rules/state.ts'
import { type UserRow, userOf } from './rows.ts'

/** A user in a batch: the state as decided so far, and the sealed data, which is opened only when it is needed. */
export type LoadedUser = {
  user: User
  /** The user as stored in the database; `undefined` for a new one. */
  stored: User | undefined
  /** The version that was read, 0 for a new user; changes may be written only on this version. */
  readonly readVersion: number
  /** The version after the decided changes. */
  version: number
  dataKey: Buffer | undefined
  wrappedKey: Buffer | undefined
  documents: Map<DocumentKind, Buffer | undefined>
  people: Map<DocumentKind, Person | undefined>
}

/** The loaded user of a row. */
export function loadedUserOf(row: UserRow): LoadedUser {
  const user = userOf(row)
  return {
    user,
    stored: user,
    readVersion: row.version,
    version: row.version,
    dataKey: undefined,
    wrappedKey: row.wrapped_key ?? undefined,
    documents: new Map((row.documents ?? []).map(([kind, sealed]) => [kind, Buffer.from(sealed, 'base64')])),
    people: new Map(),
  }
}

/** A new user, with a data key of its own. */
export function newLoadedUser(partner: Partner, user: User): LoadedUser {
  const dataKey = newKey()
  return {
    user,
    stored: undefined,
    readVersion: 0,
    version: 0,
    dataKey,
    wrappedKey: wrapDataKey(partner, user.serviceId, dataKey),
    documents: new Map(),
    people: new Map(),
  }
}

/** The user's data key, unwrapped only once. */
export function dataKeyOf(loaded: LoadedUser | undefined, partner: Partner): Buffer | undefined {
  if (!loaded?.dataKey && loaded?.wrappedKey)
    loaded.dataKey = openDataKey(partner, loaded.user.serviceId, loaded.wrappedKey)
  return loaded?.dataKey
}

/** A document of the user, opened only once. */
export function personOf(loaded: LoadedUser, partner: Partner, kind: DocumentKind): Person | undefined {
  if (loaded.people.has(kind)) return loaded.people.get(kind)
  const sealed = loaded.documents.get(kind)
  const key = sealed && dataKeyOf(loaded, partner)
  const person =
    sealed && key ? (openJson(key, sealed, `documents.${kind}`, loaded.user) as Person) : undefined
  loaded.people.set(kind, person)
  return person
}
