import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { callersChanged } from './store.ts'

/** A row of `access_tokens`. */
export type TokenRow = {
  partner_id: string
  token_id: string
  credential_id: string
  pepper_id: string
  hash: Buffer
  scopes: string[]
  issued_at: Instant
  expires_at: Instant
  revoked_at: Instant | null
}

/** Stores a new token. */
export async function insertToken(db: Executor, row: TokenRow): Promise<void> {
  await db.query(sql`
    insert into access_tokens (partner_id, token_id, credential_id, pepper_id, hash, scopes, issued_at, expires_at)
    values (${row.partner_id}, ${row.token_id}, ${row.credential_id}, ${row.pepper_id}, ${row.hash},
      ${row.scopes}::text[], ${timestamp(row.issued_at)}, ${timestamp(row.expires_at)})`)
}

/** Revokes one token; revoking it again changes nothing. */
export async function revokeTokenRow(
  database: Database,
  key: { partnerId: string; tokenId: string; at: Instant },
): Promise<void> {
  const revoke = sql`
    update access_tokens set revoked_at = ${timestamp(key.at)}
    where partner_id = ${key.partnerId} and token_id = ${key.tokenId} and revoked_at is null`
  await database.commit([revoke, callersChanged(key.partnerId)])
}

/** Deletes tokens that expired before `at`, a bounded number at a time; returns how many. */
export async function deleteExpiredTokens(db: Executor, partnerId: string, at: Instant): Promise<number> {
  const rows = await db.query(sql`
    delete from access_tokens where partner_id = ${partnerId} and token_id in (
      select token_id from access_tokens
      where partner_id = ${partnerId} and expires_at < ${timestamp(at)} order by expires_at limit 1000)
    returning 1`)
  return rows.length
}
