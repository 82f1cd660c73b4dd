import type { Instant } from '../../calendar/calendar.ts'
import { type Columns, column, within } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, nothing, sql } from '../../db/sql.ts'
import { rowsInto } from '../../db/table.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import { type Binding, seal, unseal, unwrapKey, wrapKey } from '../../vault/seal.ts'
import type { Person } from '../rules/person.ts'

/** The two parts of a user's primary key. */
export type UserIds = { readonly partnerId: string; readonly serviceId: string }

/** The columns of the primary key, with which each table of users begins. */
export const userKey: Columns<UserIds> = {
  partner_id: column.uuid(user => user.partnerId),
  service_id: column.uuid(user => user.serviceId),
}

/** The kinds of sealed documents: prefilled data, the data of the account, a registration's draft. */
export type DocumentKind = 'prefill' | 'profile' | 'draft'

/** The kinds of sealed records of a user: documents, what was agreed to on the page, evidence of consents, beneficiaries, dependants. */
export type RecordKind = DocumentKind | 'confirmation' | 'evidence' | 'beneficiaries' | 'dependants'

/** What is sealed with a user's data key: for each kind of record, and for what is sealed in other tables. */
type Purpose =
  | (typeof purposes)[RecordKind]
  | 'idempotency_keys'
  | 'insurer_lines'
  | 'insurer_lines.answer'
  | 'feed_differences'

/** The purposes by which the records of each kind are sealed; one never changes, because it is part of every seal. */
const purposes = {
  prefill: 'documents.prefill',
  profile: 'documents.profile',
  draft: 'documents.draft',
  confirmation: 'confirmations',
  evidence: 'consents.evidence',
  beneficiaries: 'beneficiary_designations',
  dependants: 'dependants',
} as const

function bindingOf(purpose: string, { partnerId, serviceId }: UserIds): Binding {
  return { purpose, partnerId, serviceId }
}

function keyBinding({ partnerId }: Partner, serviceId: string): Binding {
  return bindingOf('data_keys', { partnerId, serviceId })
}

/** A user's data key, wrapped by the partner's key. */
export function wrapDataKey(partner: Partner, serviceId: string, key: Buffer): Buffer {
  return wrapKey(partner.key, key, keyBinding(partner, serviceId))
}

/** Opens a wrapped data key. Throws when it was wrapped by another key or for another user. */
export function openDataKey(partner: Partner, serviceId: string, wrapped: Buffer): Buffer {
  return unwrapKey(
    id => (id === partner.key.id ? partner.key.key : undefined),
    wrapped,
    keyBinding(partner, serviceId),
  )
}

/** Seals data with a user's data key, as JSON that only opens for this user and as this kind. */
export function sealJson(dataKey: Buffer, content: unknown, purpose: Purpose, user: UserIds): Buffer {
  return seal(dataKey, JSON.stringify(content), bindingOf(purpose, user))
}

/** Opens what `sealJson` sealed. Throws for another key, another user or another kind. */
export function openJson(dataKey: Buffer, sealed: Buffer, purpose: Purpose, user: UserIds): unknown {
  return JSON.parse(unseal(dataKey, sealed, bindingOf(purpose, user)).toString('utf8'))
}

/** A sealed record of a user, in the form in which it is stored; `name` and `version` tell records of one kind apart. */
export type SealedRecord = {
  readonly user: UserIds
  readonly kind: RecordKind
  readonly name: string
  readonly version: string
  readonly at: Instant
  readonly sealed: Buffer
  /** What is known about the record without opening it. */
  readonly facts?: object | undefined
  /** The hashes by which the person of a document is found; none for a draft. */
  readonly found?: SearchHashes | undefined
  /** The user is made in this batch and has no records yet. */
  readonly isFirst: boolean
}

type RecordName = Pick<SealedRecord, 'user' | 'kind' | 'name' | 'version'>

/** The table of sealed records. */
export const sealedRecords = rowsInto<SealedRecord, RecordName>(
  'sealed_records',
  {
    ...within(userKey, ({ user }: RecordName) => user),
    kind: column.text(row => row.kind),
    name: column.text(row => row.name),
    version: column.text(row => row.version),
  },
  {
    at: column.instant(row => row.at),
    sealed: column.bytes(row => row.sealed),
    facts: column.json(row => row.facts),
    email_hash: column.bytes(row => row.found?.email),
    phone_hash: column.bytes(row => row.found?.phone),
  },
  { mayBeThere: row => !row.isFirst },
)

/** Seals the content of a record with the user's data key. */
export function sealRecord(dataKey: Buffer, kind: RecordKind, content: unknown, user: UserIds): Buffer {
  const text = kind === 'evidence' ? String(content) : JSON.stringify(content)
  return seal(dataKey, text, bindingOf(purposes[kind], user))
}

/** Opens what `sealRecord` sealed. Throws for another key, another user or another kind. */
export function openRecord(dataKey: Buffer, kind: RecordKind, sealed: Buffer, user: UserIds): unknown {
  const text = unseal(dataKey, sealed, bindingOf(purposes[kind], user)).toString('utf8')
  return kind === 'evidence' ? text : JSON.parse(text)
}

/** A record of a user as it is read; `content` opens it. */
export type OpenRecord = Pick<SealedRecord, 'kind' | 'name' | 'version' | 'at'> & {
  readonly facts: Readonly<Record<string, unknown>>
  readonly content: () => unknown
}

/** The records of one kind of a user, newest first: all, or at most so many of those that `only` selects. */
export async function readRecords(
  db: Executor,
  { partner, user }: { readonly partner: Partner; readonly user: UserIds },
  kind: RecordKind,
  { only = nothing, most = null }: { readonly only?: Fragment; readonly most?: number | null } = {},
): Promise<OpenRecord[]> {
  const rows = await db.query<
    Omit<SealedRecord, 'facts'> & { facts: OpenRecord['facts'] | null; wrapped_key: Buffer }
  >(sql`
    select s.kind, s.name, s.version, s.at, s.sealed, s.facts, k.wrapped_key
    from sealed_records s join data_keys k using (partner_id, service_id)
    where s.partner_id = ${user.partnerId} and s.service_id = ${user.serviceId} and s.kind = ${kind} ${only}
    order by s.at desc, s.version desc limit ${most}::integer`)
  let key: Buffer | undefined
  return rows.map(({ sealed, facts, wrapped_key, ...row }) => ({
    ...row,
    facts: facts ?? {},
    content() {
      key ??= openDataKey(partner, user.serviceId, wrapped_key)
      return openRecord(key, kind, sealed, user)
    },
  }))
}

/** The data by which a person can be found, other than names. */
export type SearchKind = 'email' | 'phone'

/** The hashes of a person's data; without a hash, the person has no such value. */
export type SearchHashes = Readonly<Partial<Record<SearchKind, Buffer>>>

/**
 * The hashes by which a person is found: keyed with the partner's key, so that nobody without it can test a guess.
 */
export function searchHashesOf(partner: Partner, { email, phone }: Person): SearchHashes {
  const hashes: { -readonly [Kind in SearchKind]?: Buffer } = {}
  if (email) hashes.email = searchHash(partner, 'email', email)
  if (phone) hashes.phone = searchHash(partner, 'phone', phone)
  return hashes
}

/**
 * The hash of an email or phone as people write it: letter case, and the spaces and punctuation of a phone, make no
 * difference.
 */
export function searchHash({ hashKey }: Pick<Partner, 'hashKey'>, kind: SearchKind, text: string): Buffer {
  const written = kind === 'email' ? text.trim().normalize('NFC').toLowerCase() : digitsOf(text)
  return keyedHash(hashKey, 'search_hashes.hash', kind, written)
}

/** Without the country code of the United States, which people may or may not write. */
function digitsOf(text: string): string {
  return text.replace(/\D/g, '').replace(/^1(?=\d{10}$)/, '')
}
