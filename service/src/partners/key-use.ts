import type { Instant } from '../calendar/calendar.ts'
import { inAllCells } from '../db/by-cell.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import type { Keyring } from '../vault/keyring.ts'
import { wrappingKeyId } from '../vault/seal.ts'
import { rewrapped } from './keys.ts'
import { listPartners } from './store.ts'

/** How many rows depend on each key, by the key's id. */
export type UseOfKeys = ReadonlyMap<string, number>

/**
 * Keeps the keyring's keys from being retired until the transaction ends. Transactions that store data under a key call
 * it first.
 */
export async function lockKeysForUse(tx: Executor): Promise<void> {
  await tx.query(sql`select 1 from installation for share`)
}

/**
 * Waits for transactions that lock the keys for use, and keeps others out until this transaction ends; false: the
 * service has never served yet.
 */
export async function lockKeysForRotation(tx: Executor): Promise<boolean> {
  const rows = await tx.query(sql`select 1 from installation for update`)
  return rows.length > 0
}

/** Rewraps with the current root key the partners' keys that older ones wrap; returns how many. */
export async function rewrapPartnerKeys(tx: Executor, keyring: Keyring): Promise<number> {
  const rows = (await listPartners(tx)).flatMap(({ partner_id, wrapped_key }) => {
    const wrapped = rewrapped({ partner_id, wrapped_key }, keyring)
    return wrapped ? [{ partner_id, wrapped }] : []
  })
  await tx.query(sql`
    update partners p set wrapped_key = fresh.wrapped_key
    from unnest(${rows.map(row => row.partner_id)}::uuid[], ${rows.map(row => row.wrapped)}::bytea[])
      as fresh (partner_id, wrapped_key)
    where p.partner_id = fresh.partner_id`)
  return rows.length
}

/** How many partners' keys each root key wraps. */
export async function partnersByRootKey(db: Executor): Promise<UseOfKeys> {
  const use = new Map<string, number>()
  for (const { wrapped_key } of await listPartners(db)) {
    const id = wrappingKeyId(wrapped_key)
    use.set(id, (use.get(id) ?? 0) + 1)
  }
  return use
}

/** How many live client secrets and API keys are hashed under each pepper. */
export async function credentialsByPepper(db: Executor, now: Instant): Promise<UseOfKeys> {
  const rows = await db.query<{ pepper_id: string; count: number }>(sql`
    select live.pepper_id, count(*) as count from partners p
    cross join lateral (
      select c.pepper_id from credentials c
      where c.partner_id = p.partner_id and c.revoked_at is null
        and (c.expires_at is null or c.expires_at > ${timestamp(now)})) as live
    group by live.pepper_id`)
  return new Map(rows.map(row => [row.pepper_id, row.count]))
}

/** How many living access tokens are hashed under each pepper. */
export async function tokensByPepper(database: Database, now: Instant): Promise<UseOfKeys> {
  const rows = await inAllCells(database, cell =>
    cell.query<{ pepper_id: string; count: number }>(sql`
    select live.pepper_id, count(*) as count from partners p
    cross join lateral (
      select t.pepper_id from access_tokens t
      where t.partner_id = p.partner_id and t.expires_at > ${timestamp(now)} and t.revoked_at is null) as live
    group by live.pepper_id`),
  )
  const use = new Map<string, number>()
  for (const { pepper_id, count } of rows) use.set(pepper_id, (use.get(pepper_id) ?? 0) + count)
  return use
}
