import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'

/** What is deleted of a partner, rows that refer to others first; `false`: it is needed by what must outlive erasures. */
export const removedTables: ReadonlyMap<string, boolean> = new Map([
  ['delivery_attempts', true],
  ['deliveries', true],
  ['dead_deliveries', true],
  ['endpoint_leases', true],
  ['endpoint_health', true],
  ['webhook_endpoints', true],
  ['access_tokens', true],
  ['credential_uses', true],
  ['credentials', true],
  ['page_sessions', true],
  ['idempotency_keys', true],
  ['events', true],
  ['event_log_heads', false],
  ['documents', true],
  ['data_keys', true],
  ['enrolments', true],
  ['consents', true],
  ['beneficiary_designations', true],
  ['confirmations', true],
  ['search_hashes', true],
  ['refused_creates', true],
  ['operator_requests', true],
  ['history', false],
  ['audit_blocks', false],
  ['retained_records', false],
  ['users', false],
])

/** What stays: who was erased, by ids alone, for restored copies and for the keys in files; what operators did. */
export const stayingTables: ReadonlySet<string> = new Set(['erasures', 'audit_log'])

/** Deletes the rows of a partner whose users are erased; with what is retained stays what it takes to read it. */
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

/** Deletes the partner itself, and with it the key on which all of it hung. */
export async function deletePartner(database: Database, partnerId: string): Promise<void> {
  await database.query(sql`delete from partners where partner_id = ${partnerId}`)
}
