import type { Locale } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { fragmentOf, type Query, sql, timestamp } from '../db/sql.ts'
import type { Look } from '../look/look.ts'
import type { HelpContacts } from './help-contacts.ts'
import type { Legal } from './legal.ts'

/** A row of `partners`. */
export type PartnerRow = {
  partner_id: string
  name: string
  aliases: string[]
  timezone: string
  locale: Locale
  origins: string[]
  redirects: string[]
  help: HelpContacts
  legal: Legal
  look: Look
  /** Years like `7y`; null: nothing outlives an erasure. */
  retain: string | null
  offers: string[] | null
  api_key_optional: boolean
  rate_per_second: number | null
  scopes: string[] | null
  wrapped_key: Buffer
  clock_offset_ms: number
  disabled_at: Instant | null
  created_at: Instant
  /** The name of the cell that has the partner's rows; '' where there is one PostgreSQL. */
  cell: string
}

/** The columns of a `PartnerRow`. */
export const partnerNames: readonly (keyof PartnerRow)[] = [
  ...([
    'partner_id',
    'name',
    'aliases',
    'timezone',
    'locale',
    'origins',
    'redirects',
    'help',
    'legal',
  ] as const),
  ...(['look', 'retain', 'offers', 'api_key_optional', 'rate_per_second', 'scopes', 'wrapped_key'] as const),
  ...(['clock_offset_ms', 'disabled_at', 'created_at', 'cell'] as const),
]
/** The same for the list of a `select`. */
export const partnerColumns = fragmentOf([partnerNames.join(', ')])

/** The partners with these ids. */
export function findPartners(db: Executor, ids: readonly string[]): Promise<PartnerRow[]> {
  return db.query<PartnerRow>(sql`
    select ${partnerColumns} from partners where partner_id = any(${ids}::uuid[])`)
}

/** The database of the cell for a new partner: the one with the fewest partners, of plain PostgreSQL the only one. */
export async function emptiestCell(database: Database): Promise<Database> {
  const cells = database.cells()
  const [row] = await database.query<{ number: number }>(sql`
    select number::integer from unnest(${cells.map(({ cell }) => cell)}::text[]) with ordinality as c (name, number)
    order by (select count(*) from partners p where p.cell = c.name), number limit 1`)
  return cells[(row?.number ?? 1) - 1] ?? database
}

/** Locks a partner until the transaction ends, so that the row does not change between reading and writing it. */
export async function lockPartner(tx: Executor, partnerId: string): Promise<void> {
  await tx.query(sql`select 1 from partners where partner_id = ${partnerId} for update`)
}

/** All partners, oldest first. */
export function listPartners(db: Executor): Promise<PartnerRow[]> {
  return db.query<PartnerRow>(sql`
    select ${partnerColumns} from partners order by created_at, partner_id`)
}

/** The ids of all partners, and how far their business clocks are ahead. */
export async function listClocks(db: Executor): Promise<{ partnerId: string; clockOffsetMs: number }[]> {
  const rows = await db.query<{ partner_id: string; clock_offset_ms: number }>(sql`
    select partner_id, clock_offset_ms from partners`)
  return rows.map(row => ({ partnerId: row.partner_id, clockOffsetMs: row.clock_offset_ms }))
}

/** Stores a new partner, with an event log that is empty. */
export async function insertPartner(db: Executor, row: PartnerRow): Promise<void> {
  await db.query(sql`
    insert into partners (partner_id, name, aliases, timezone, locale, origins, redirects, help, legal, look, retain,
      offers, api_key_optional, rate_per_second, scopes, wrapped_key, created_at, updated_at, cell)
    values (${row.partner_id}, ${row.name}, ${row.aliases}::text[], ${row.timezone}, ${row.locale},
      ${row.origins}::text[], ${row.redirects}::text[], ${JSON.stringify(row.help)}::jsonb, ${JSON.stringify(row.legal)}::jsonb,
      ${JSON.stringify(row.look)}::jsonb, ${row.retain}, ${row.offers}::text[],
      ${row.api_key_optional},
      ${row.rate_per_second}, ${row.scopes}::text[], ${row.wrapped_key},
      ${timestamp(row.created_at)}, ${timestamp(row.created_at)}, ${row.cell})`)
  await db.query(sql`insert into event_log_heads (partner_id) values (${row.partner_id})`)
}

/** Stores the settings of a partner that the operator may change. */
export async function updatePartner(db: Executor, row: PartnerRow, at: Instant): Promise<void> {
  await db.query(sql`
    update partners set name = ${row.name}, aliases = ${row.aliases}::text[], timezone = ${row.timezone},
      locale = ${row.locale}, origins = ${row.origins}::text[], redirects = ${row.redirects}::text[],
      help = ${JSON.stringify(row.help)}::jsonb, legal = ${JSON.stringify(row.legal)}::jsonb,
      look = ${JSON.stringify(row.look)}::jsonb, retain = ${row.retain}, offers = ${row.offers}::text[], api_key_optional = ${row.api_key_optional},
      rate_per_second = ${row.rate_per_second}, scopes = ${row.scopes}::text[],
      disabled_at = ${timestamp(row.disabled_at)}, updated_at = ${timestamp(at)}
    where partner_id = ${row.partner_id}`)
  await db.query(callersChanged(row.partner_id))
}

/** Moves a sandbox partner's business clock, never back. Returns the offset that is then in effect. */
export async function moveClock(db: Executor, partnerId: string, offsetMs: number): Promise<number> {
  const [row] = await db.query<{ clock_offset_ms: number }>(sql`
    update partners set clock_offset_ms = greatest(clock_offset_ms, ${offsetMs})
    where partner_id = ${partnerId} returning clock_offset_ms`)
  await db.query(callersChanged(partnerId))
  return row?.clock_offset_ms ?? 0
}

/** The kinds of a partner's own secrets. */
export type CredentialKind = 'client_secret' | 'api_key'

/** A row of `credentials`. */
export type CredentialRow = {
  partner_id: string
  credential_id: string
  kind: CredentialKind
  pepper_id: string
  hash: Buffer
  created_at: Instant
  /** The name of the operator, or of the system user behind a command. */
  made_by: string
  expires_at: Instant | null
  revoked_at: Instant | null
}

/** All credentials of a partner, oldest first. */
export function listCredentials(db: Executor, partnerId: string): Promise<CredentialRow[]> {
  return db.query<CredentialRow>(sql`
    select * from credentials where partner_id = ${partnerId} order by created_at, credential_id`)
}

/** Stores a new credential. */
export async function insertCredential(db: Executor, row: CredentialRow): Promise<void> {
  await db.query(sql`
    insert into credentials (partner_id, credential_id, kind, pepper_id, hash, created_at, made_by, expires_at)
    values (${row.partner_id}, ${row.credential_id}, ${row.kind}, ${row.pepper_id}, ${row.hash},
      ${timestamp(row.created_at)}, ${row.made_by}, ${timestamp(row.expires_at)})`)
}

/** Stores a credential's hash under another pepper, unless the row has changed since it was read. */
export async function rehashCredential(
  db: Executor,
  was: Pick<CredentialRow, 'partner_id' | 'credential_id' | 'pepper_id' | 'hash'>,
  is: { pepperId: string; hash: Buffer },
): Promise<void> {
  await db.query(sql`
    update credentials set pepper_id = ${is.pepperId}, hash = ${is.hash}
    where partner_id = ${was.partner_id} and credential_id = ${was.credential_id}
      and pepper_id = ${was.pepper_id} and hash = ${was.hash}`)
}

/** Revokes a credential and the tokens issued from it; false when there is no live one. */
export async function revokeCredential(
  db: Executor,
  key: { partnerId: string; credentialId: string; at: Instant },
): Promise<boolean> {
  const rows = await db.query(sql`
    update credentials set revoked_at = ${timestamp(key.at)}
    where partner_id = ${key.partnerId} and credential_id = ${key.credentialId} and revoked_at is null
    returning 1`)
  await db.query(sql`
    update access_tokens set revoked_at = ${timestamp(key.at)}
    where partner_id = ${key.partnerId} and credential_id = ${key.credentialId} and revoked_at is null`)
  await db.query(callersChanged(key.partnerId))
  return rows.length > 0
}

/** Tells every process to forget the callers of a partner; part of the transaction that changes or takes away something of them. */
export function callersChanged(partnerId: string): Query {
  return sql`
    insert into caller_changes (partner_id, changed_at) values (${partnerId}, statement_timestamp())
    on conflict (partner_id) do update set changed_at = excluded.changed_at`
}

/**
 * The partners of a cell whose callers have changed in the last minute: for longer than any caller is kept, and a transaction takes
 * to commit after it has said so.
 */
export async function findChangedCallers(cell: Executor): Promise<ReadonlySet<string>> {
  const rows = await cell.query<{ partner_id: string }>(sql`
    select partner_id from caller_changes where changed_at > statement_timestamp() - interval '1 minute'`)
  return new Set(rows.map(row => row.partner_id))
}
