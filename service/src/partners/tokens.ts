import type { Instant } from '../calendar/calendar.ts'
import { coalesceApart } from '../db/coalesce.ts'
import { column } from '../db/columns.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { rowsInto } from '../db/table.ts'
import { callersChanged } from './store.ts'

/** A token that is issued. */
export type NewToken = {
  partner_id: string
  token_id: string
  credential_id: string
  pepper_id: string
  hash: Buffer
  scopes: string[]
  issued_at: Instant
  expires_at: Instant
}

const accessTokens = rowsInto<NewToken, Pick<NewToken, 'partner_id' | 'token_id'>>(
  'access_tokens',
  { partner_id: column.uuid(row => row.partner_id), token_id: column.text(row => row.token_id) },
  {
    credential_id: column.text(row => row.credential_id),
    pepper_id: column.text(row => row.pepper_id),
    hash: column.bytes(row => row.hash),
    scopes: column.text(row => `{${row.scopes.join()}}`),
    issued_at: column.instant(row => row.issued_at),
    expires_at: column.instant(row => row.expires_at),
  },
  { casts: { scopes: 'text[]' } },
)

/**
 * Makes the function that stores new tokens. A partner's that are issued at once go in one statement: one each kept all connections busy,
 * and of 800 requests of two new partners on a cluster 61 waited for a connection until they were answered 503.
 */
export function openTokenStore(database: Database): (token: NewToken) => Promise<void> {
  return coalesceApart<NewToken, void>(({ partner_id }) => partner_id, {
    name: 'store tokens',
    maxBatch: 500,
    run: async tokens => {
      const cell = database.of(tokens[0]?.partner_id ?? '')
      await Promise.all(accessTokens.write(tokens).map(statement => cell.query(statement)))
      return tokens.map(() => ({ ok: true, value: undefined }))
    },
  })
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
