import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { partnerOf } from '../partners/keys.ts'
import { findPartners } from '../partners/store.ts'
import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { newKey, unwrapKey, wrapKey } from '../vault/seal.ts'
import type { BlockKeys } from './blocks.ts'
import { noPartner } from './entries.ts'

/**
 * The keys that sign audit blocks. They must outlive every rotation of root keys and peppers, because blocks are compared
 * for years. So a partner's key is derived from its own hash key, and that of entries without a partner from a key of the
 * installation.
 */
export function openBlockKeys(db: Executor, keyring: Keyring): BlockKeys {
  const ofPartner = async (partnerId: string): Promise<Buffer | undefined> => {
    const [row] = await findPartners(db, [partnerId])
    return row && keyedHash(partnerOf(row, keyring).hashKey, purpose)
  }
  const ofNobody = async (): Promise<Buffer | undefined> => {
    const key = await auditKey(db, keyring)
    return key && keyedHash(key, purpose)
  }
  const keyOf = (partnerId: string) => (partnerId === noPartner ? ofNobody() : ofPartner(partnerId))
  return {
    async current(partnerId) {
      const key = await keyOf(partnerId)
      return key && { id: idOf(partnerId), key }
    },
    async byId(partnerId, keyId) {
      return keyId === idOf(partnerId) ? keyOf(partnerId) : undefined
    },
  }
}

/**
 * The key that seals what concerns no partner, or all; like a partner's key it is not changed by rotations. `undefined`: the database
 * is no installation yet, and nothing is sealed.
 */
export async function installationKey(db: Executor, keyring: Keyring): Promise<Buffer | undefined> {
  const key = await auditKey(db, keyring)
  return key && keyedHash(key, 'installation.key')
}

async function auditKey(db: Executor, keyring: Keyring): Promise<Buffer | undefined> {
  const [row] = await db.query<{ wrapped_audit_key: Buffer }>(sql`select wrapped_audit_key from installation`)
  return row && unwrapKey(keyring.rootKey, row.wrapped_audit_key, binding)
}

/** A new key of an installation for blocks of entries without a partner, wrapped by the current root key. */
export function newAuditKey(keyring: Keyring): Buffer {
  return wrapKey(keyring.rootKeys.current, newKey(), binding)
}

/** The same key wrapped by the current root key. */
export function rewrappedAuditKey(wrapped: Buffer, keyring: Keyring): Buffer {
  return wrapKey(keyring.rootKeys.current, unwrapKey(keyring.rootKey, wrapped, binding), binding)
}

const purpose = 'audit_blocks.hash'
const binding = { purpose: 'installation.audit_key', partnerId: noPartner }
/**
 * The id of the key, which each block names, so that a later release can use other keys, or sign other columns, without
 * signing old blocks again.
 */
function idOf(partnerId: string): string {
  return partnerId === noPartner ? 'installation' : 'partner'
}
