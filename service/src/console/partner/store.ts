import type { Executor } from '../../db/database.ts'
import { type Query, sql } from '../../db/sql.ts'

/** How far a new partner has come towards a working integration: what has happened at least once. */
type IntegrationProgress = { credential: boolean; user: boolean; webhook: boolean; page: boolean }

/** Reads how far a partner has come. */
export async function findIntegrationProgress(db: Executor, partnerId: string): Promise<IntegrationProgress> {
  const [progress] = await db.query<IntegrationProgress>(sql`
    select
      exists (select from credential_uses where partner_id = ${partnerId}) as credential,
      exists (select from users where partner_id = ${partnerId}) as user,
      exists (select from endpoint_health where partner_id = ${partnerId} and accepted_pair is not null) as webhook,
      exists (select from (
        select spent_at from page_sessions where partner_id = ${partnerId} and created_at is not null
        order by created_at desc limit 1000) newest where newest.spent_at is not null) as page`)
  return progress ?? { credential: false, user: false, webhook: false, page: false }
}

/** Why a partner was disabled, or null. */
export async function readDisabledReason(db: Executor, partnerId: string): Promise<string | null> {
  const [row] = await db.query<{ disabled_reason: string | null }>(sql`
    select disabled_reason from partners where partner_id = ${partnerId}`)
  return row?.disabled_reason ?? null
}

/** Keeps why a partner is disabled, beside when; it goes when the partner is enabled. */
export function keepDisabledReason(partnerId: string, reason: string): Query {
  return sql`update partners set disabled_reason = ${reason} where partner_id = ${partnerId}`
}

/** The partners that are disabled. */
export async function disabledPartners(db: Executor): Promise<ReadonlySet<string>> {
  const rows = await db.query<{ partner_id: string }>(sql`
    select partner_id from partners where disabled_at is not null`)
  return new Set(rows.map(row => row.partner_id))
}
