import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

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

/** The tokens of these ids, with the revocation of the secret with which they were issued. */
export function findTokens(
  db: Executor,
  keys: readonly { partnerId: string; tokenId: string }[],
): Promise<TokenRow[]> {
  const partners = keys.map(key => key.partnerId)
  // One by one, by `limit`: a join might be planned, and its plan kept, when there were few tokens, and then read all of
  // them each time.
  return db.query<TokenRow>(sql`
    select found.* from (
      select distinct *
      from unnest((select ${partners}::uuid[]), ${keys.map(key => key.tokenId)}::text[])
        as named (partner_id, token_id)) as wanted
    cross join lateral (
      select t.partner_id, t.token_id, t.credential_id, t.pepper_id, t.hash, t.scopes, t.issued_at, t.expires_at,
        coalesce(t.revoked_at, c.revoked_at) as revoked_at
      from access_tokens t join credentials c using (partner_id, credential_id)
      where t.partner_id = wanted.partner_id and t.token_id = wanted.token_id
      limit 1) as found`)
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
  db: Executor,
  key: { partnerId: string; tokenId: string; at: Instant },
): Promise<void> {
  await db.query(sql`
    update access_tokens set revoked_at = ${timestamp(key.at)}
    where partner_id = ${key.partnerId} and token_id = ${key.tokenId} and revoked_at is null`)
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
