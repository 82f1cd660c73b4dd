import type { Instant } from '../calendar/calendar.ts'
import { coalesceApart } from '../db/coalesce.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { keyedHash, sameHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { decodeUuid, parseSecret, type SecretKind, type SecretMode } from '../vault/secret.ts'
import { openCredentialUses } from './credential-uses.ts'
import { partnerOf } from './keys.ts'
import type { Partner } from './partner.ts'
import {
  type CredentialKind,
  findPartners,
  type PartnerRow,
  partnerColumns,
  partnerNames,
  rehashCredential,
} from './store.ts'

/** How long an answer from memory may be older than the database (contract §3). */
export const FRESH_MS = 1000

/** The secrets that a request may carry. */
type SentSecret = 'access_token' | CredentialKind

/** What a secret says of itself in clear: its kind, its partner, and its own id. */
type SecretIds = { readonly kind: SentSecret; readonly partnerId: string; readonly ownId: string }

/** The stored side of a secret, with its partner. */
type SecretRow = PartnerRow & {
  readonly kind: SentSecret
  /** Of a token, that of the client secret with which it was issued; revoking that one revokes the token. */
  readonly credential_id: string
  readonly pepper_id: string
  readonly hash: Buffer
  /** Of a token. */
  readonly scopes_of_token: string[] | null
  readonly expires_at: Instant | null
  readonly revoked_at: Instant | null
}

/** Whose a valid secret is. */
type Owner = {
  readonly partner: Partner
  /** The client secret with which a token was issued; of others their own id. */
  readonly credentialId: string
  /** Of a token. */
  readonly scopes: readonly string[]
  /** Infinite where it does not expire. */
  readonly expiresAt: Instant
}

/** Partners, answered from memory and read again when older than one second, and their credentials, read each time. */
export type Directory = {
  /** The partner, or `undefined`. */
  partner(partnerId: string): Promise<Partner | undefined>
  /** Whose a secret of this kind is, or why it is not valid. */
  owner(secret: string, kind: SentSecret): Promise<Owner | WhyNot>
  /** Forgets what memory has of a partner, after a change by this process. */
  forget(partnerId: string): void
  /** Calls `listener` with each partner that is forgotten. */
  onForget(listener: (partnerId: string) => void): void
}

/**
 * Why a secret is not valid: `spent` when it is right but expired, revoked, or its partner is disabled; `known`, with
 * the id, when its id exists and the rest is wrong; else `unknown`.
 */
export type WhyNot =
  | { readonly is: 'spent' | 'unknown' }
  | { readonly is: 'known'; readonly credential: string }

/** A partner as its row was when it was last read; `text` is the row. */
type Known = { readonly partner: Partner; readonly text: string; readonly readAt: Instant }

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
  const partners = new Map<string, Known>()
  const noteUse = openCredentialUses(database)
  const readSecret = openSecretRows(database)
  const listeners: ((partnerId: string) => void)[] = []

  /**
   * Keeps a row that was read at an instant or later. The partner is the same object as long as the row does not change: so its key
   * is unwrapped once, not every second, and caches can compare partners by identity.
   */
  const keep = (row: PartnerRow, readAt: Instant): Partner => {
    const text = JSON.stringify(partnerNames.map(name => row[name]))
    const last = partners.get(row.partner_id)
    const partner = last?.text === text ? last.partner : partnerOf(row, keyring)
    if (!last || last.readAt <= readAt) partners.set(row.partner_id, { partner, text, readAt })
    return partner
  }
  const partner = async (partnerId: string): Promise<Partner | undefined> => {
    const known = partners.get(partnerId)
    const readAt = real()
    if (known && readAt - known.readAt < FRESH_MS) return known.partner
    const row = await readPartner(partnerId)
    // An id that no partner has is looked up each time, and cannot fill the memory.
    if (!row) partners.delete(partnerId)
    return row && keep(row, readAt)
  }
  const readPartner = coalesceApart<string, PartnerRow | undefined>(database.cellOf, {
    name: 'read partners',
    maxBatch: 500,
    run: async ids => {
      const rows = new Map((await findPartners(database, ids)).map(row => [row.partner_id, row]))
      return ids.map(id => ({ ok: true, value: rows.get(id) }))
    },
  })

  const isRight = (
    row: { pepper_id: string; hash: Buffer } | undefined,
    secret: string,
    purpose: string,
  ): boolean => {
    // An unknown id costs the same hash as a known one, so that timing does not reveal which ids exist.
    const pepper = keyring.pepper(row?.pepper_id ?? keyring.peppers.current.id)
    return pepper !== undefined && sameHash(keyedHash(pepper, purpose, secret), row?.hash ?? emptyHash)
  }

  /** The ids in a secret of this kind and of this service's mode. */
  const idsIn = (secret: string, kind: SentSecret) => {
    const parsed = parseSecret(secret)
    if (parsed?.kind !== kinds[kind] || parsed.mode !== mode) return undefined
    const ids = splitSecretId(parsed.id)
    return ids && { ...ids, whole: parsed.id }
  }

  /**
   * The service knows a secret's text only while it is used, so this is when its hash can move to the current pepper.
   */
  const moveToCurrent = async (row: SecretRow, secret: string): Promise<void> => {
    const { id, key } = keyring.peppers.current
    if (row.pepper_id === id) return
    // If this fails, the next use tries again; until then the secret stays valid under its old pepper.
    await rehashCredential(database, row, { pepperId: id, hash: keyedHash(key, row.kind, secret) }).catch(
      () => {},
    )
  }

  return {
    partner,
    async owner(secret, kind) {
      const id = idsIn(secret, kind)
      if (!id) return { is: 'unknown' }
      const at = real()
      const row = await readSecret({ kind, ...id })
      const isKnown = isRight(row, secret, kind)
      if (!row) return { is: 'unknown' }
      if (!isKnown || row.kind !== kind) return { is: 'known', credential: id.whole }
      if (row.revoked_at !== null || (row.expires_at !== null && row.expires_at <= real()))
        return { is: 'spent' }
      const { partnerId, ownId: credentialId } = id
      if (kind === 'access_token') {
        if (row.disabled_at !== null) return { is: 'spent' }
      } else {
        await moveToCurrent(row, secret)
        noteUse({ partnerId, credentialId, at })
      }
      return {
        partner: keep(row, at),
        credentialId: row.credential_id,
        scopes: row.scopes_of_token ?? [],
        expiresAt: row.expires_at ?? Number.POSITIVE_INFINITY,
      }
    },
    forget(partnerId) {
      partners.delete(partnerId)
      for (const listener of listeners) listener(partnerId)
    },
    onForget: listener => listeners.push(listener),
  }
}

const emptyHash = Buffer.alloc(32)

/** Reads secrets: what is asked for at the same time by one statement for each cell, so that nobody waits for the node of another. */
function openSecretRows(database: Database): (asked: SecretIds) => Promise<SecretRow | undefined> {
  return coalesceApart<SecretIds, SecretRow | undefined>(({ partnerId }) => database.cellOf(partnerId), {
    name: 'read secrets',
    maxBatch: 500,
    run: async asked => {
      const ids = asked.map(({ partnerId }) => partnerId)
      const rows = await findSecrets(database.of(ids[0] ?? ''), asked).catch(async error => {
        // The cell of a partner that is not there cannot be asked.
        if ((await findPartners(database, ids)).length > 0) throw error
        return []
      })
      const found = new Map(rows.map(({ place, ...row }) => [place, row]))
      return asked.map((_, index) => ({ ok: true, value: found.get(index + 1) }))
    },
  })
}

/**
 * The secrets of these ids that there are, each with its place among them. One by one, by `limit`: a join might be planned, and its
 * plan kept, when there were few, and then read all of them each time.
 */
export function findSecrets(
  db: Executor,
  asked: readonly SecretIds[],
): Promise<(SecretRow & { readonly place: number })[]> {
  return db.query(sql`
    select p.*, s.*, asked.place::integer
    from unnest((select ${asked.map(({ partnerId }) => partnerId)}::uuid[]), ${asked.map(({ ownId }) => ownId)}::text[],
      ${asked.map(({ kind }) => kind === 'access_token')}::boolean[]) with ordinality
      as asked (partner_id, own_id, is_token, place)
    cross join lateral (select ${partnerColumns} from partners where partner_id = asked.partner_id limit 1) p
    cross join lateral (
      (select 'access_token' as kind, t.credential_id, t.pepper_id, t.hash, t.scopes as scopes_of_token, t.expires_at,
        coalesce(t.revoked_at, (
          select c.revoked_at from credentials c
          where c.partner_id = t.partner_id and c.credential_id = t.credential_id limit 1)) as revoked_at
      from access_tokens t
      where asked.is_token and t.partner_id = asked.partner_id and t.token_id = asked.own_id limit 1)
      union all
      (select c.kind, c.credential_id, c.pepper_id, c.hash, null, c.expires_at, c.revoked_at from credentials c
      where not asked.is_token and c.partner_id = asked.partner_id and c.credential_id = asked.own_id limit 1)
    ) s`)
}
