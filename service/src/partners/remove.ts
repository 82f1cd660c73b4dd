import type { Database, Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/**
 * The tables from which a partner's rows are deleted, in order: rows that refer to others first. `false`: retained
 * records need the rows.
 */
export const removedTables: ReadonlyMap<string, boolean> = new Map([
  ['delivery_attempts', true],
  ['deliveries', true],
  ['dead_deliveries', true],
  ['endpoint_health', true],
  ['webhook_endpoints', true],
  ['access_tokens', true],
  ['caller_changes', true],
  ['credential_uses', true],
  ['credentials', true],
  ['page_sessions', true],
  ['page_languages', true],
  ['idempotency_keys', true],
  ['events', true],
  ['event_log_heads', false],
  ['sealed_records', true],
  ['data_keys', true],
  ['covered_dependants', true],
  ['enrolments', true],
  ['held_periods', true],
  ['corrected_pasts', true],
  ['charged_from', true],
  ['statements', true],
  ['statement_lines', true],
  ['insurer_lines', true],
  ['insurer_farewells', true],
  ['feed_seen', true],
  ['feed_differences', true],
  ['consents', true],
  ['refused_creates', true],
  ['operator_requests', true],
  ['history', false],
  ['audit_blocks', false],
  ['retained_records', false],
  ['users', false],
])

/**
 * Tables that keep their rows: which users were erased, by ids alone, for restored copies and for the removal of keys
 * from files; and what operators did.
 */
export const stayingTables: ReadonlySet<string> = new Set(['erasures', 'audit_log'])

/**
 * Deletes the rows of a partner whose users are erased. If records are retained, the rows that are needed to read them
 * stay.
 */
export async function deletePartnerRows(
  database: Database,
  partnerId: string,
  { withRetained }: { withRetained: boolean },
): Promise<void> {
  for (const [table, isFree] of removedTables) {
    if (withRetained && !isFree) continue
    await database.query({
      name: `delete-partner-${table}`,
      text: `delete from ${table} where partner_id = $1`,
      values: [partnerId],
    })
  }
}

/** Deletes the partner itself, and with it the key on which all its data depended. */
export async function deletePartner(db: Executor, partnerId: string): Promise<void> {
  await db.query(sql`delete from partners where partner_id = ${partnerId}`)
}
