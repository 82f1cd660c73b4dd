import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'

/** The rows from which a caller was made. */
export type CallerRows = {
  readonly partnerId: string
  /** `row_hash` of the partner. */
  readonly partnerHash: string
  readonly tokenId: string
  /** The API key, or `null` for a caller without one. */
  readonly keyId: string | null
}

/**
 * The indexes of the callers that are still valid at `at` and whose partners' rows are unchanged. Of tokens, secrets and
 * API keys it reads only what can change: whether they exist, are revoked or have expired.
 */
export async function findUnchangedCallers(
  db: Executor,
  callers: readonly CallerRows[],
  at: Instant,
): Promise<Set<number>> {
  // One by one, by `limit`, as tokens are (`tokens.ts`): PostgreSQL might keep a plan that reads whole tables.
  const [row] = await db.query<{ positions: number[] | null }>(sql`
    select array_agg(known.position::integer) as positions
    from unnest((select ${callers.map(one => one.partnerId)}::uuid[]), ${callers.map(one => one.partnerHash)}::bigint[],
      ${callers.map(one => one.tokenId)}::text[], ${callers.map(one => one.keyId)}::text[])
      with ordinality as known (partner_id, partner_hash, token_id, key_id, position)
    where (
      select hash_record_extended(p, 0) from partners p where p.partner_id = known.partner_id limit 1) = known.partner_hash
    and (
      select t.revoked_at is null and (
        select c.revoked_at is null from credentials c
        where c.partner_id = t.partner_id and c.credential_id = t.credential_id limit 1)
      from access_tokens t where t.partner_id = known.partner_id and t.token_id = known.token_id limit 1)
    and (known.key_id is null or (
      select k.revoked_at is null and (k.expires_at is null or k.expires_at > ${timestamp(at)}::timestamptz)
      from credentials k where k.partner_id = known.partner_id and k.credential_id = known.key_id limit 1))`)
  return new Set((row?.positions ?? []).map(position => position - 1))
}
