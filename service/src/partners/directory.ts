import type { Instant } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { decodeUuid, parseSecret, type SecretKind, type SecretMode } from '../vault/secret.ts'
import { openRows } from './coalesced-rows.ts'
import { openCredentialUses } from './credential-uses.ts'
import { partnerOf } from './keys.ts'
import type { Partner } from './partner.ts'
import { type CredentialRow, type PartnerRow, rehashCredential } from './store.ts'

/** How long an answer from memory may be older than the database (contract §3). */
export const FRESH_MS = 1000

/** The bearer of a valid token. */
export type Bearer = {
  readonly partner: Partner
  readonly tokenId: string
  readonly scopes: readonly string[]
  /** The client secret with which the token was issued. */
  readonly credentialId: string
  readonly expiresAt: Instant
  /** Until when this may be used without asking the database again (contract §3). */
  readonly freshUntil: Instant
}
/** A valid credential. */
export type Credential = {
  readonly partner: Partner
  readonly credentialId: string
  readonly freshUntil: Instant
}

/** Partners, answered from memory and read again when older than one second, and their credentials. */
export type Directory = {
  /** The partner, or `undefined`. */
  partner(partnerId: string): Promise<Partner | undefined>
  /** The bearer of an access token, or why the token is not valid. */
  bearer(token: string): Promise<Bearer | WhyNot>
  /** The partner that a client secret or API key belongs to, or why it is not valid. */
  credential(secret: string, kind: 'client_secret' | 'api_key'): Promise<Credential | WhyNot>
  /** Forgets what memory has of a partner, after a change by this process. */
  forget(partnerId: string): void
  /**
   * Grows each time something is forgotten: a copy of the directory's answers is valid only while this number stays the
   * same.
   */
  forgotten(): number
}

/** The secrets that a request may carry. */
type SentSecret = 'access_token' | 'client_secret' | 'api_key'
/**
 * Why a secret is not valid: `spent` when it is right but expired, revoked, or its partner is disabled; `known`, with
 * the id, when its id exists and the rest is wrong; else `unknown`.
 */
export type WhyNot =
  | { readonly is: 'spent' | 'unknown' }
  | { readonly is: 'known'; readonly credential: string }

type Cached = { readonly value: Partner; readonly readAt: Instant }

const kinds = { client_secret: 'cs', api_key: 'ak', access_token: 'at' } as const satisfies Record<
  SentSecret,
  SecretKind
>

/** The ids that a secret carries in clear: that of the partner, and that of the credential. */
export function splitSecretId(id: string): { partnerId: string; ownId: string } | undefined {
  const partnerId = decodeUuid(id.slice(0, 22))
  return partnerId && id.length > 22 ? { partnerId, ownId: id.slice(22) } : undefined
}

/** Opens the directory. */
export function openDirectory(context: {
  database: Database
  keyring: Keyring
  mode: SecretMode
  real: () => Instant
}): Directory {
  const { database, keyring, mode, real } = context
  const partners = new Map<string, Cached>()
  const knownPartner = openKnownPartners(keyring)
  const noteUse = openCredentialUses(database)
  const rows = openRows(database)
  let forgotten = 0

  const partner = async (partnerId: string): Promise<Partner | undefined> => {
    const known = partners.get(partnerId)
    const readAt = real()
    if (known && readAt - known.readAt < FRESH_MS) return known.value
    const row = await rows.partner(partnerId)
    const value = row && knownPartner(row)
    // An id that no partner has is looked up each time, and cannot fill the memory.
    partners.delete(partnerId)
    if (value) partners.set(partnerId, { value, readAt })
    return value
  }

  const isRight = (
    row: { pepper_id: string; hash: Buffer } | undefined,
    secret: string,
    purpose: string,
  ): boolean => {
    // An unknown id costs the same hash as a known one, so that timing does not reveal which ids exist.
    const pepper = keyring.pepper(row?.pepper_id ?? keyring.peppers.current.id)
    return pepper !== undefined && sameHash(keyedHash(pepper, purpose, secret), row?.hash ?? emptyHash)
  }

  /**
   * The service knows a secret's text only while it is used, so this is when its hash can move to the current pepper.
   */
  const moveToCurrent = async (row: CredentialRow, secret: string): Promise<void> => {
    const { id, key } = keyring.peppers.current
    if (row.pepper_id === id) return
    // If this fails, the next use tries again; until then the secret stays valid under its old pepper.
    await rehashCredential(database, row, { pepperId: id, hash: keyedHash(key, row.kind, secret) }).catch(
      () => {},
    )
  }

  /** The ids in a secret of this kind and of this service's mode. */
  const idsIn = (secret: string, kind: SentSecret) => {
    const parsed = parseSecret(secret)
    if (parsed?.kind !== kinds[kind] || parsed.mode !== mode) return undefined
    const ids = splitSecretId(parsed.id)
    return ids && { ...ids, whole: parsed.id }
  }

  const bearer = async (token: string): Promise<Bearer | WhyNot> => {
    const id = idsIn(token, 'access_token')
    if (!id) return { is: 'unknown' }
    const readAt = real()
    const reading = partner(id.partnerId)
    const [row, owner] = await Promise.all([
      // The cell of a partner that is not there cannot be asked.
      rows.token(id).catch(async error => {
        if (await reading) throw error
        return undefined
      }),
      reading,
    ])
    const isKnown = isRight(row, token, 'access_token')
    if (!row) return { is: 'unknown' }
    if (!isKnown) return { is: 'known', credential: id.whole }
    if (row.revoked_at !== null || row.expires_at <= real() || !owner || owner.disabledAt !== undefined)
      return { is: 'spent' }
    return {
      partner: owner,
      tokenId: id.ownId,
      scopes: row.scopes,
      expiresAt: row.expires_at,
      credentialId: row.credential_id,
      freshUntil: freshUntil(readAt, id.partnerId),
    }
  }

  const credential = async (
    secret: string,
    kind: 'client_secret' | 'api_key',
  ): Promise<Credential | WhyNot> => {
    const id = idsIn(secret, kind)
    if (!id) return { is: 'unknown' }
    const readAt = real()
    const [row, owner] = await Promise.all([rows.credential(id), partner(id.partnerId)])
    const isKnown = isRight(row, secret, kind)
    if (!row) return { is: 'unknown' }
    if (!isKnown || row.kind !== kind) return { is: 'known', credential: id.whole }
    const isLive = row.revoked_at === null && (row.expires_at === null || row.expires_at > real())
    if (!isLive || !owner) return { is: 'spent' }
    await moveToCurrent(row, secret)
    noteUse({ partnerId: id.partnerId, credentialId: id.ownId, at: readAt })
    return { partner: owner, credentialId: id.ownId, freshUntil: freshUntil(readAt, id.partnerId) }
  }

  /** An answer read at `readAt` is fresh as long as both it and the partner in memory are. */
  const freshUntil = (readAt: Instant, partnerId: string): Instant =>
    Math.min(readAt, partners.get(partnerId)?.readAt ?? readAt) + FRESH_MS

  return {
    partner,
    bearer,
    credential,
    forgotten: () => forgotten,
    forget(partnerId) {
      forgotten += 1
      partners.delete(partnerId)
    },
  }
}

const emptyHash = Buffer.alloc(32)

/**
 * Returns the same object for a partner as long as its row does not change. So its key is unwrapped once, not every
 * second, and caches can compare partners by identity.
 */
function openKnownPartners(keyring: Keyring): (row: PartnerRow) => Partner {
  const known = new Map<string, { readonly text: string; readonly partner: Partner }>()
  return row => {
    const text = JSON.stringify({ ...row, wrapped_key: row.wrapped_key.toString('base64') })
    const last = known.get(row.partner_id)
    if (last?.text === text) return last.partner
    const partner = partnerOf(row, keyring)
    known.set(row.partner_id, { text, partner })
    return partner
  }
}
