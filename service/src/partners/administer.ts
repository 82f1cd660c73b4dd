import { randomBytes } from 'node:crypto'
import type { Database, Executor } from '../db/database.ts'
import type { Query } from '../db/sql.ts'
import { sniff } from '../files/file-kind.ts'
import { storeFiles } from '../files/store.ts'
import { OperatorError } from '../operator-error.ts'
import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import { decodeUuid, encodeBase62, encodeUuid, makeSecret, type SecretMode } from '../vault/secret.ts'
import { isUuid, uuidv7 } from '../vault/uuid.ts'
import { lockKeysForUse } from './key-use.ts'
import { newPartnerKey } from './keys.ts'
import { type PartnerSettings, withSettings } from './settings.ts'
import {
  type CredentialKind,
  type CredentialRow,
  emptiestCell,
  findPartners,
  insertCredential,
  insertPartner,
  listCredentials,
  lockPartner,
  type PartnerRow,
  revokeCredential,
  updatePartner,
} from './store.ts'

/** What an operator needs to create and change partners. */
export type AdministerContext = {
  readonly database: Database
  readonly keyring: Keyring
  readonly mode: SecretMode
  readonly real: () => number
  /** The name of the operator or system user; each credential keeps who made it. */
  readonly by: string
  /** The offers of today's catalogue; names are checked against it if it has any. */
  readonly knownOffers: readonly string[]
  /** Statements that are committed with the change, and only with it, such as its audit entry. */
  readonly alongside?: readonly Query[]
  /** Sees a partner that is to be changed, once nobody else can change it; an OperatorError that it throws refuses the change. */
  readonly check?: (row: PartnerRow) => void
}

/** A new partner's credentials, shown once. */
type NewPartner = { readonly row: PartnerRow; readonly clientSecret: string; readonly apiKey: string }

/**
 * Creates a partner with a first client secret and a first API key, and commits `entryOf` its id with it. Throws
 * OperatorError when a setting is wrong.
 */
export async function createPartner(
  settings: PartnerSettings,
  context: Omit<AdministerContext, 'alongside'>,
  entryOf?: (partnerId: string) => Query,
): Promise<NewPartner> {
  const now = context.real()
  const partnerId = uuidv7(now)
  const cell = await emptiestCell(context.database)
  const blank: PartnerRow = {
    partner_id: partnerId,
    name: '',
    aliases: [],
    timezone: 'America/New_York',
    locale: 'en',
    origins: [],
    redirects: [],
    help: {},
    legal: {},
    look: {},
    retain: null,
    offers: null,
    api_key_optional: false,
    rate_per_second: null,
    scopes: null,
    wrapped_key: noKeyYet,
    clock_offset_ms: 0,
    disabled_at: null,
    created_at: now,
    cell: cell.cell,
  }
  const wanted = withSettings(blank, settings, context)
  return cell.transaction(async tx => {
    // Data wrapped by a root key that is retired meanwhile could never be opened again.
    await lockKeysForUse(tx)
    const row = { ...wanted, wrapped_key: newPartnerKey(partnerId, context.keyring) }
    await storeLogo(tx, settings, now)
    await insertPartner(tx, row)
    const clientSecret = await mint(tx, partnerId, 'client_secret', context)
    const apiKey = await mint(tx, partnerId, 'api_key', context)
    if (entryOf) await tx.query(entryOf(partnerId))
    return { row, clientSecret: clientSecret.secret, apiKey: apiKey.secret }
  })
}

const noKeyYet = Buffer.alloc(0)

/** Changes a partner's settings. Throws OperatorError when the partner is unknown or a setting is wrong. */
export async function changePartner(
  partnerId: string,
  settings: PartnerSettings,
  context: AdministerContext,
): Promise<PartnerRow> {
  return context.database.transaction(async tx => {
    const known = await requireLocked(tx, partnerId)
    context.check?.(known)
    const row = withSettings(known, settings, context)
    await storeLogo(tx, settings, context.real())
    await updatePartner(tx, row, context.real())
    await addAlongside(tx, context)
    return row
  })
}

async function addAlongside(tx: Executor, { alongside = [] }: AdministerContext): Promise<void> {
  for (const one of alongside) await tx.query(one)
}

/** The partner, held until the transaction ends. */
async function requireLocked(tx: Executor, partnerId: string): Promise<PartnerRow> {
  const { partner_id: id } = await requirePartner(tx, partnerId)
  await lockPartner(tx, id)
  return requirePartner(tx, id)
}

/** The partner of this id. Throws OperatorError when there is none. */
export async function requirePartner(db: Executor, partnerId: string): Promise<PartnerRow> {
  const id = isUuid(partnerId) ? partnerId : decodeUuid(partnerId.replace(/^enr_client_/, ''))
  const [row] = id ? await findPartners(db, [id]) : []
  if (!row) throw new OperatorError(`There is no partner ${partnerId}: see \`enrolment partner list\`.`)
  return row
}

async function storeLogo(tx: Executor, settings: PartnerSettings, at: number): Promise<void> {
  const { logo } = settings
  const mediaType = logo ? sniff(logo) : undefined
  if (logo && mediaType) await storeFiles(tx, [{ mediaType, content: logo }], { at, who: 'operator' })
}

const purposes = { client_secret: 'cs', api_key: 'ak' } as const

async function mint(
  db: Executor,
  partnerId: string,
  kind: CredentialKind,
  context: AdministerContext,
): Promise<{ id: string; secret: string }> {
  const credentialId = encodeBase62(BigInt(`0x${randomBytes(7).toString('hex')}`), 10)
  const { text } = makeSecret(purposes[kind], context.mode, encodeUuid(partnerId) + credentialId)
  const pepper = context.keyring.peppers.current
  await insertCredential(db, {
    partner_id: partnerId,
    credential_id: credentialId,
    kind,
    pepper_id: pepper.id,
    hash: keyedHash(pepper.key, kind, text),
    created_at: context.real(),
    made_by: context.by,
    expires_at: null,
    revoked_at: null,
  })
  return { id: credentialId, secret: text }
}

/**
 * Creates another secret of a kind, so that the partner can change over without a gap. Throws OperatorError when two
 * live ones exist already: the older must be revoked first.
 */
export async function rotateKey(
  partnerId: string,
  kind: CredentialKind,
  context: AdministerContext,
): Promise<{ id: string; secret: string; live: string[] }> {
  return context.database.transaction(async tx => {
    await lockKeysForUse(tx)
    const row = await requireLocked(tx, partnerId)
    const live = await liveKeys(tx, row.partner_id, kind)
    if (live.length >= 2) {
      throw new OperatorError(
        `Two are live already (${live.join(', ')}): revoke the older with \`enrolment key revoke ${partnerId} ID\` first.`,
      )
    }
    const made = await mint(tx, row.partner_id, kind, context)
    await addAlongside(tx, context)
    return { ...made, live: [...live, made.id] }
  })
}

async function liveKeys(db: Executor, partnerId: string, kind: CredentialKind): Promise<string[]> {
  return (await listCredentials(db, partnerId))
    .filter(row => row.kind === kind && row.revoked_at === null)
    .map(row => row.credential_id)
}

/** Whether no other of its kind lives on: one that a rotation replaced ends by itself, and does not count. */
export function isLastLive(row: CredentialRow, rows: readonly CredentialRow[]): boolean {
  return !rows.some(
    one => one !== row && one.kind === row.kind && one.revoked_at === null && one.expires_at === null,
  )
}

/**
 * Revokes one credential by its id, and the tokens issued with it. Throws OperatorError when there is no live
 * credential of this id, and with `keepsLast` for the last live one of its kind.
 */
export async function revokeKey(
  partnerId: string,
  credentialId: string,
  { keepsLast = false, ...context }: AdministerContext & { readonly keepsLast?: boolean },
): Promise<void> {
  return context.database.transaction(async tx => {
    // Of two that are revoked at once, the second is the last.
    const row = await requireLocked(tx, partnerId)
    const rows = keepsLast ? await listCredentials(tx, row.partner_id) : []
    const wanted = rows.find(one => one.credential_id === credentialId)
    if (wanted && isLastLive(wanted, rows))
      throw new OperatorError(
        'Without the last live one all requests are refused. Make another one first, or let an admin revoke it.',
      )
    const key = { partnerId: row.partner_id, credentialId, at: context.real() }
    if (!(await revokeCredential(tx, key)))
      throw new OperatorError(
        `There is no live credential ${credentialId}: see \`enrolment partner show ${partnerId}\`.`,
      )
    await addAlongside(tx, context)
  })
}
