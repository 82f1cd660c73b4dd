import type { Database } from '../../db/database.ts'
import { markedBy } from '../../installation.ts'
import { operatorsByPepper } from '../../operators/store.ts'
import { credentialsByPepper, partnersByRootKey, tokensByPepper } from '../../partners/key-use.ts'
import { sessionsByPepper } from '../../registration/session/old-sessions.ts'
import type { KeyKind } from '../../vault/keyring-file.ts'
import type { Workspace } from '../workspace.ts'

/** How much data of each kind depends on one key. */
export type UseOfKey = Readonly<Record<string, number>>

/** Counts what depends on a key, even on one that is not in the keyring. */
type KeysInUse = {
  readonly of: (kind: KeyKind, id: string) => UseOfKey
  /** The keys that living rows name, each with its kind and id. */
  readonly named: readonly { readonly kind: KeyKind; readonly id: string }[]
}

/**
 * Counts what depends on the keys: everything that a root key wraps, and every hash under a pepper that can still be
 * used. Expired and revoked values do not count.
 */
export async function countKeysInUse(
  database: Database,
  { keyring, real }: Pick<Workspace, 'keyring' | 'real'>,
): Promise<KeysInUse> {
  const now = real()
  const mark = await markedBy(database, keyring)
  const counts: Record<KeyKind, Readonly<Record<string, ReadonlyMap<string, number>>>> = {
    rootKeys: {
      partners: await partnersByRootKey(database),
      database: new Map(mark === undefined ? [] : [[mark, 1]]),
    },
    peppers: {
      credentials: await credentialsByPepper(database, now),
      tokens: await tokensByPepper(database, now),
      sessions: await sessionsByPepper(database, now),
      operators: await operatorsByPepper(database, now),
    },
  }
  const idsOf = (kind: KeyKind) => [
    ...new Set(Object.values(counts[kind]).flatMap(count => [...count.keys()])),
  ]
  return {
    of: (kind, id) =>
      Object.fromEntries(Object.entries(counts[kind]).map(([sort, count]) => [sort, count.get(id) ?? 0])),
    named: (['rootKeys', 'peppers'] as const).flatMap(kind => idsOf(kind).map(id => ({ kind, id }))),
  }
}

const sortNames: Readonly<Record<string, readonly [string, string]>> = {
  partners: ['partner', 'partners'],
  database: ['mark of the database', 'marks of the database'],
  credentials: ['live client secret or API key', 'live client secrets and API keys'],
  tokens: ['access token', 'access tokens'],
  sessions: ['link, session or result', 'links, sessions and results'],
  operators: ['operator’s link or session', 'operators’ links and sessions'],
}

/** Whether anything depends on a key. */
export function isInUse(use: UseOfKey): boolean {
  return Object.values(use).some(count => count > 0)
}

/** What depends on a key, in words. */
export function describeUse(use: UseOfKey): string {
  const parts = Object.entries(use)
    .filter(([, count]) => count > 0)
    .map(([sort, count]) => `${count} ${sortNames[sort]?.[count === 1 ? 0 : 1] ?? sort}`)
  return parts.length > 0 ? parts.join(', ') : 'nothing'
}
