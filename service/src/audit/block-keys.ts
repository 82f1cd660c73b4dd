import type { Executor } from '../db/database.ts'
import { partnerOf } from '../partners/keys.ts'
import { findPartners } from '../partners/store.ts'
import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { noPartner } from './entries.ts'
import type { BlockKeys } from './seal.ts'

/**
 * The keys that sign audit blocks. A partner's block key is derived from its own hash key, which stays the same
 * when other keys are rotated; blocks of entries without a partner use a key derived from a pepper.
 */
export function openBlockKeys(db: Executor, keyring: Keyring): BlockKeys {
  const ofPartner = async (partnerId: string): Promise<Buffer | undefined> => {
    const [row] = await findPartners(db, [partnerId])
    return row && keyedHash(partnerOf(row, keyring).hashKey, purpose)
  }
  return {
    async current(partnerId) {
      const { id, key: pepper } = keyring.peppers.current
      if (partnerId === noPartner) return { id, key: keyedHash(pepper, purpose) }
      const key = await ofPartner(partnerId)
      return key && { id: partnerKeyId, key }
    },
    async byId(partnerId, keyId) {
      if (partnerId !== noPartner) return keyId === partnerKeyId ? ofPartner(partnerId) : undefined
      const pepper = keyring.pepper(keyId)
      return pepper && keyedHash(pepper, purpose)
    },
  }
}

const purpose = 'audit_blocks.hash'
const partnerKeyId = 'partner'
