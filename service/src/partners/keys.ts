import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { newKey, unwrapKey, wrapKey, wrappingKeyId } from '../vault/seal.ts'
import type { Partner } from './partner.ts'
import type { PartnerRow } from './store.ts'

// A partner has only one key so far; the id allows for more keys without rewriting data.
const firstKeyId = '1'

function binding(partnerId: string) {
  return { purpose: 'partners.key', partnerId }
}

/** A new partner key, wrapped by the current root key. */
export function newPartnerKey(partnerId: string, keyring: Keyring): Buffer {
  return wrapKey(keyring.rootKeys.current, newKey(), binding(partnerId))
}

/** A partner's key, rewrapped by the current root key; `undefined` when that key wraps it already. */
export function rewrapped(
  row: Pick<PartnerRow, 'partner_id' | 'wrapped_key'>,
  keyring: Keyring,
): Buffer | undefined {
  const { current } = keyring.rootKeys
  if (wrappingKeyId(row.wrapped_key) === current.id) return undefined
  const bound = binding(row.partner_id)
  return wrapKey(current, unwrapKey(keyring.rootKey, row.wrapped_key, bound), bound)
}

/** The partner of a row. Throws when its key was wrapped by a root key that is not in the keyring. */
export function partnerOf(row: PartnerRow, keyring: Keyring): Partner {
  const key = unwrapKey(keyring.rootKey, row.wrapped_key, binding(row.partner_id))
  return { ...settingsOf(row), key: { id: firstKeyId, key }, hashKey: keyedHash(key, 'partners.hash_key') }
}

function settingsOf(row: PartnerRow): Omit<Partner, 'key' | 'hashKey'> {
  return {
    partnerId: row.partner_id,
    name: row.name,
    aliases: row.aliases,
    timezone: row.timezone,
    locale: row.locale,
    origins: row.origins,
    redirects: row.redirects,
    help: row.help,
    legal: row.legal,
    look: row.look,
    retainYears: row.retain === null ? 0 : Number.parseInt(row.retain, 10),
    offers: row.offers ?? undefined,
    apiKeyOptional: row.api_key_optional,
    ratePerSecond: row.rate_per_second ?? undefined,
    scopes: row.scopes ?? undefined,
    clockOffsetMs: row.clock_offset_ms,
    disabledAt: row.disabled_at ?? undefined,
    createdAt: row.created_at,
  }
}
