import type { Partner } from '../../partners/partner.ts'
import { newKey } from '../../vault/seal.ts'
import type { User } from '../rules/state.ts'
import { type DocumentKind, openDataKey, openDocument, type Person, wrapDataKey } from './documents.ts'
import { type UserRow, userOf } from './rows.ts'

/** What a batch holds of one user: the state as decided so far, and the sealed data, opened only when asked for. */
export type LoadedUser = {
  user: User
  /** As the database has it; `undefined` for a new user. */
  stored: User | undefined
  /** The version that was read, 0 for a new user; only on it what was decided may be written. */
  readonly readVersion: number
  /** The version that the decided changes make. */
  version: number
  dataKey: Buffer | undefined
  wrappedKey: Buffer | undefined
  documents: Map<DocumentKind, Buffer | undefined>
  people: Map<DocumentKind, Person | undefined>
}

/** A user as the database has it. */
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

/** The user's data key, unwrapped once. */
export function dataKeyOf(loaded: LoadedUser | undefined, partner: Partner): Buffer | undefined {
  if (!loaded?.dataKey && loaded?.wrappedKey)
    loaded.dataKey = openDataKey(partner, loaded.user.serviceId, loaded.wrappedKey)
  return loaded?.dataKey
}

/** A document of the user, unsealed once. */
export function personOf(loaded: LoadedUser, partner: Partner, kind: DocumentKind): Person | undefined {
  if (loaded.people.has(kind)) return loaded.people.get(kind)
  const sealed = loaded.documents.get(kind)
  const key = sealed && dataKeyOf(loaded, partner)
  const person =
    sealed && key
      ? (openDocument(key, sealed, {
          kind,
          partnerId: loaded.user.partnerId,
          serviceId: loaded.user.serviceId,
        }) as Person)
      : undefined
  loaded.people.set(kind, person)
  return person
}
