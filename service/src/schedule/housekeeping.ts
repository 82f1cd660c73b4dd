import type { Instant } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import type { Clock } from '../partners/partner.ts'
import { deleteExpiredTokens } from '../partners/tokens.ts'

const atMost = 1000

/**
 * Deletes what has lapsed: access tokens and keyed answers by real time, a prefill's keys and drafts by the partner's
 * business time. At most 1,000 rows of a kind for each partner; false when there may be more.
 */
export const deleteLapsed = async (
  database: Database,
  partners: readonly { readonly partnerId: string; readonly clockOffsetMs: number }[],
  clock: Clock,
): Promise<boolean> => {
  let isDone = true
  for (const partner of partners) {
    const tokens = await deleteExpiredTokens(database, partner.partnerId, clock.real())
    const keys = await deleteLapsedKeys(database, partner.partnerId, {
      now: clock.now(partner),
      real: clock.real(),
    })
    const drafts = await deleteOldDrafts(database, partner.partnerId, clock.now(partner))
    isDone &&= tokens < atMost && keys < atMost && drafts < atMost
  }
  return isDone
}

/**
 * Deletes idempotency keys that have lapsed; gives how many rows it looked at. A prefill's keys live 90 days from the
 * last write of the entry, so one that was outlived by a newer write gets the later date instead (contract §4).
 */
const deleteLapsedKeys = async (
  db: Executor,
  partnerId: string,
  { now, real }: { now: Instant; real: Instant },
): Promise<number> => {
  const rows = await db.query(sql`
    with expired as (
      select k.operation, k.key_hash,
        case when k.prefill_number is not null and u.erased_at is null
          then u.prefill_written_at + interval '2160 hours' end as lives_until
      from idempotency_keys k
      left join users u on u.partner_id = k.partner_id and u.service_id = k.service_id
      where k.partner_id = ${partnerId} and k.expires_at <= ${timestamp(now)}
        and (k.expires_at <= ${timestamp(real)} or (k.prefill_number is not null and u.erased_at is null))
      order by k.expires_at limit ${atMost}
    ), kept as (
      update idempotency_keys k set expires_at = expired.lives_until from expired
      where k.partner_id = ${partnerId} and k.operation = expired.operation and k.key_hash = expired.key_hash
        and expired.lives_until > ${timestamp(now)}
    ), gone as (
      delete from idempotency_keys k using expired
      where k.partner_id = ${partnerId} and k.operation = expired.operation and k.key_hash = expired.key_hash
        and coalesce(expired.lives_until <= ${timestamp(now)}, true)
    )
    select 1 from expired`)
  return rows.length
}

/** A draft lives 90 days from its last write, like the entry that it belongs to where there is one. */
const deleteOldDrafts = async (db: Executor, partnerId: string, now: Instant): Promise<number> => {
  const rows = await db.query(sql`
    delete from documents d using (
      select service_id from documents
      where partner_id = ${partnerId} and kind = 'draft'
        and written_at <= ${timestamp(now)}::timestamptz - interval '2160 hours'
      order by written_at limit ${atMost}) as old
    where d.partner_id = ${partnerId} and d.service_id = old.service_id and d.kind = 'draft'
    returning 1`)
  return rows.length
}
