import { newAuditKey, rewrappedAuditKey } from './audit/block-keys.ts'
import type { Database, Executor } from './db/database.ts'
import { sql, timestamp } from './db/sql.ts'
import { OperatorError } from './operator-error.ts'
import { keyedHash, sameHash } from './vault/hash.ts'
import { type Keyring, type KeyringSource, loadKeyring } from './vault/keyring.ts'

/** What a database is, forever: a sandbox or not (contract §1). */
export type Installation = { readonly sandbox: boolean }

type Row = { sandbox: boolean; keyring_check: Buffer; root_key_id: string }

/**
 * Loads the keys for a database. A database that already belongs to a keyring gets no new one: throws OperatorError
 * when that keyring cannot be read, and names the root key that is needed.
 */
export async function loadKeyringFor(db: Executor, source: KeyringSource): Promise<Keyring> {
  const row = await readMark(db)
  return loadKeyring({ ...source, wantedRootKey: row?.root_key_id })
}

/**
 * Reads the mark of a database. If there is none yet, sets it to `wanted`; a caller without `wanted` sets nothing, and
 * takes an unmarked database for a production one. Throws OperatorError when the database is of the other kind, or when
 * the keys are not those of this database.
 */
export async function markInstallation(
  database: Database,
  context: { keyring: Keyring; wanted: 'sandbox' | 'live' | 'either'; now: number },
): Promise<Installation> {
  const { keyring, wanted, now } = context
  const { id, key } = keyring.rootKeys.current
  // Read first: on a cluster a write would need every node, and a service must start while one is away.
  let row = await readMark(database)
  if (!row && wanted !== 'either') {
    await database.query(sql`
    insert into installation (sandbox, keyring_check, root_key_id, wrapped_audit_key, created_at)
    values (${wanted === 'sandbox'}, ${checkOf(key)}, ${id}, ${newAuditKey(keyring)}, ${timestamp(now)})
    on conflict do nothing`)
    row = await readMark(database)
  }
  if (!row) return { sandbox: false }
  if (!rootKeyOfMark(keyring, row.keyring_check)) {
    throw new OperatorError(
      `The keys are not those of this database: it belongs to the root key ${row.root_key_id}, and these are ${[...keyring.rootKeys.byId.keys()].join(', ')}. Restore the keyring.json that belongs to it, or set the ENROLMENT_ROOT_KEY it is kept with.`,
    )
  }
  if (wanted === 'live' && row.sandbox) {
    throw new OperatorError(
      'This database is a sandbox of `enrolment dev` and stays one: give `serve` another by --data or DATABASE_URL.',
    )
  }
  if (wanted === 'sandbox' && !row.sandbox) {
    throw new OperatorError(
      'This database is a production one: `enrolment dev` never touches it; give `dev` another --data.',
    )
  }
  return { sandbox: row.sandbox }
}

/** Whether a service or a command has made this database its own. */
export async function isMarked(db: Executor): Promise<boolean> {
  return (await readMark(db)) !== undefined
}

/**
 * The id of the root key that the database's mark depends on; `undefined` when there is no mark, or the keyring does
 * not have that key.
 */
export async function markedBy(db: Executor, keyring: Keyring): Promise<string | undefined> {
  const row = await readMark(db)
  return row && rootKeyOfMark(keyring, row.keyring_check)
}

/** Makes the database's mark, and the key that signs its audit blocks, depend on the current root key. */
export async function markAnew(db: Executor, keyring: Keyring): Promise<void> {
  const { id, key } = keyring.rootKeys.current
  const [row] = await db.query<{ wrapped_audit_key: Buffer }>(sql`select wrapped_audit_key from installation`)
  if (!row) return
  await db.query(sql`
    update installation set keyring_check = ${checkOf(key)}, root_key_id = ${id},
      wrapped_audit_key = ${rewrappedAuditKey(row.wrapped_audit_key, keyring)}`)
}

async function readMark(db: Executor): Promise<Row | undefined> {
  const [row] = await db.query<Row>(sql`select sandbox, keyring_check, root_key_id from installation`)
  return row
}

function checkOf(rootKey: Buffer): Buffer {
  return keyedHash(rootKey, 'installation', 'keyring')
}

function rootKeyOfMark(keyring: Keyring, check: Buffer): string | undefined {
  return [...keyring.rootKeys.byId].find(([, key]) => sameHash(checkOf(key), check))?.[0]
}
