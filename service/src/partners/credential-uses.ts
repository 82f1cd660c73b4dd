import type { Instant } from '../calendar/calendar.ts'
import { writeByCell } from '../db/by-cell.ts'
import { coalesce } from '../db/coalesce.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'

type Use = { readonly partnerId: string; readonly credentialId: string; readonly at: Instant }

const EVERY_MS = 60_000
const MOST_KNOWN = 100_000

/**
 * Records when credentials were last used, so that an operator knows which one can be revoked: the first use at once,
 * later ones once a minute. If this fails, the record is lost, because the request itself must not fail for it.
 */
export function openCredentialUses(database: Database): (use: Use) => void {
  const noted = new Map<string, Instant>()
  const write = coalesce<Use, void>({
    name: 'note uses of credentials',
    maxBatch: 500,
    run: async uses => {
      await writeByCell(database, uses, writeUses)
      return uses.map(() => ({ ok: true, value: undefined }))
    },
  })
  return use => {
    const key = `${use.partnerId} ${use.credentialId}`
    const last = noted.get(key)
    if (last !== undefined && use.at - last < EVERY_MS) return
    if (noted.size >= MOST_KNOWN) noted.clear()
    noted.set(key, use.at)
    write(use).catch(() => noted.delete(key))
  }
}

async function writeUses(db: Executor, uses: readonly Use[]): Promise<void> {
  await db.query(sql`
    insert into credential_uses (partner_id, credential_id, last_used_at)
    select partner_id, credential_id, max(at) from unnest(${uses.map(use => use.partnerId)}::uuid[],
      ${uses.map(use => use.credentialId)}::text[],
      ${uses.map(use => new Date(use.at).toISOString())}::timestamptz[]) as used (partner_id, credential_id, at)
    group by partner_id, credential_id
    order by partner_id, credential_id
    on conflict (partner_id, credential_id) do update
      set last_used_at = greatest(credential_uses.last_used_at, excluded.last_used_at)`)
}

/** When each credential of a partner was last used, by its id; credentials that were never used are missing. */
export async function lastUses(db: Executor, partnerId: string): Promise<ReadonlyMap<string, Instant>> {
  const rows = await db.query<{ credential_id: string; last_used_at: Instant }>(sql`
    select credential_id, last_used_at from credential_uses where partner_id = ${partnerId}`)
  return new Map(rows.map(row => [row.credential_id, row.last_used_at]))
}
