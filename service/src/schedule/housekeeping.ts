import { DAY_MS, type Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { openTasks } from '../db/each-task.ts'
import { sql, timestamp } from '../db/sql.ts'
import { deleteLapsedFarewells } from '../membership/records/farewells.ts'
import { deleteLapsedRecords } from '../membership/records/retained-rows.ts'
import type { Clock } from '../partners/partner.ts'
import { deleteExpiredTokens } from '../partners/tokens.ts'

const AT_MOST = 1000
// An expired token is kept for a day, so that its client gets a 401 however often it retries.
const TOKENS_KEPT_MS = DAY_MS

/**
 * Deletes expired access tokens and keyed answers by real time; and by the partner's business time expired prefill
 * keys, drafts, and the records and lines for insurers that outlived an erasure. At most 1,000 rows of a kind for each partner; returns false
 * when more rows may be left. What fails for one kind or partner is left out; its failure is thrown at the end.
 */
export async function deleteLapsed(
  database: Database,
  partners: readonly { readonly partnerId: string; readonly clockOffsetMs: number }[],
  clock: Clock,
): Promise<boolean> {
  const real = clock.real()
  const tasks = openTasks()
  let isDone = true
  for (const partner of partners) {
    const { partnerId } = partner
    const now = clock.now(partner)
    const deletions = [
      () => deleteExpiredTokens(database, partnerId, real - TOKENS_KEPT_MS),
      () => deleteLapsedKeys(database, partnerId, { now, real }),
      () => deleteOldDrafts(database, partnerId, now),
      () => deleteLapsedRecords(database, partnerId, { now, atMost: AT_MOST }),
      () => deleteLapsedFarewells(database, partnerId, { now, atMost: AT_MOST }),
    ]
    for (const deletion of deletions) if ((await tasks.run(deletion)) >= AT_MOST) isDone = false
  }
  tasks.end()
  return isDone
}

/**
 * Deletes expired idempotency keys, and returns how many rows it examined. A prefill's keys live 90 days from the
 * last write of the entry, so a key that a later write has outlived gets the later date instead (contract §4). The delete
 * asks again whether the key has expired: a request that it waited for may have just used the key anew.
 */
async function deleteLapsedKeys(
  db: Executor,
  partnerId: string,
  { now, real }: { now: Instant; real: Instant },
): Promise<number> {
  const rows = await db.query(sql`
    with expired as (
      select k.operation, k.key_hash,
        case when k.prefill_number is not null
          then coalesce(u.erased_at + interval '24 hours', u.prefill_written_at + interval '2160 hours') end as lives_until
      from idempotency_keys k
      left join users u on u.partner_id = k.partner_id and u.service_id = k.service_id
      where k.partner_id = ${partnerId} and k.expires_at <= ${timestamp(now)}
        and (k.expires_at <= ${timestamp(real)} or k.prefill_number is not null)
      order by k.expires_at limit ${AT_MOST}
    ), kept as (
      update idempotency_keys k set expires_at = expired.lives_until from expired
      where k.partner_id = ${partnerId} and k.operation = expired.operation and k.key_hash = expired.key_hash
        and expired.lives_until > ${timestamp(now)}
    ), gone as (
      delete from idempotency_keys k using expired
      where k.partner_id = ${partnerId} and k.operation = expired.operation and k.key_hash = expired.key_hash
        and coalesce(expired.lives_until <= ${timestamp(now)}, true) and k.expires_at <= ${timestamp(now)}
    )
    select 1 from expired`)
  return rows.length
}

/**
 * Deletes drafts that were last written 90 days ago, which is when prefill entries expire too. The delete asks again: a
 * person that it waited for may have just written more.
 */
async function deleteOldDrafts(db: Executor, partnerId: string, now: Instant): Promise<number> {
  const rows = await db.query(sql`
    delete from sealed_records d using (
      select service_id from sealed_records
      where partner_id = ${partnerId} and kind = 'draft'
        and at <= ${timestamp(now)}::timestamptz - interval '2160 hours'
      order by at limit ${AT_MOST}) as old
    where d.partner_id = ${partnerId} and d.service_id = old.service_id and d.kind = 'draft'
      and d.at <= ${timestamp(now)}::timestamptz - interval '2160 hours'
    returning 1`)
  return rows.length
}
