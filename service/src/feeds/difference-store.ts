import { noPartner } from '../audit/entries.ts'
import type { Instant } from '../calendar/calendar.ts'
import { bytes, texts, timestamps, uuids } from '../db/binary-array.ts'
import type { Executor } from '../db/database.ts'
import { sql, timestamp } from '../db/sql.ts'
import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { AsideReason, Difference, DifferenceKind } from './compare-list.ts'

/** A difference as it is kept: whom only the insurer knows is of no partner, and kept as a hash alone. */
export type KeptDifference = {
  readonly partnerId: string
  readonly kind: DifferenceKind
  readonly subject: Buffer
  readonly serviceId: string | undefined
  readonly benefit: string
  readonly foundAt: Instant
}

type Row = {
  partner_id: string
  kind: DifferenceKind
  subject: Buffer
  service_id: string | null
  benefit: string
  found_at: Instant
}

/** What a difference is about, as a hash: it may hold the number of somebody who is not ours. */
export function subjectOf(
  { peppers }: Pick<Keyring, 'peppers'>,
  feed: string,
  { serviceid, memberid, benefit }: Difference,
): Buffer {
  const who = serviceid === '' ? memberid : serviceid
  return keyedHash(peppers.current.key, 'feed_differences.subject', feed, who, benefit)
}

/**
 * Notes what a comparison found: what was found before keeps its age and stays set aside, and what is no more goes. `partners` are
 * all partners.
 */
export async function noteDifferences(
  tx: Executor,
  feed: string,
  of: {
    readonly found: readonly Omit<KeptDifference, 'foundAt'>[]
    readonly partners: readonly string[]
    readonly at: Instant
  },
): Promise<void> {
  for (const partnerId of [...of.partners, noPartner]) {
    const own = of.found
      .filter(one => one.partnerId === partnerId)
      .sort((a, b) => Buffer.compare(a.subject, b.subject))
    await tx.query(sql`
      delete from feed_differences d
      where d.partner_id = ${partnerId} and d.feed = ${feed} and not exists (
        select from unnest(${texts(own.map(one => one.kind))}::text[], ${bytes(own.map(one => one.subject))}::bytea[])
          as found (kind, subject)
        where found.kind = d.kind and found.subject = d.subject)`)
    if (own.length === 0) continue
    await tx.query(sql`
      insert into feed_differences (partner_id, feed, kind, subject, service_id, benefit, found_at)
      select ${partnerId}::uuid, ${feed}, * from unnest(${texts(own.map(one => one.kind))}::text[],
        ${bytes(own.map(one => one.subject))}::bytea[], ${uuids(own.map(one => one.serviceId ?? null))}::uuid[],
        ${texts(own.map(one => one.benefit))}::text[], ${timestamps(own.map(() => of.at))}::timestamptz[])
      on conflict (partner_id, feed, kind, subject) do nothing`)
  }
}

/** The differences of a feed that nobody set aside, the oldest first: of these partners, and of none. */
export async function openDifferences(
  db: Executor,
  feed: string,
  partners: readonly string[],
): Promise<KeptDifference[]> {
  const rows = await db.query<Row>(sql`
    select partner_id, kind, subject, service_id, benefit, found_at from feed_differences
    where partner_id = any (${partners}::uuid[]) and feed = ${feed} and aside_at is null
    order by found_at, kind, subject limit 10000`)
  return rows
    .toSorted((a, b) => a.found_at - b.found_at)
    .map(row => ({
      partnerId: row.partner_id,
      kind: row.kind,
      subject: row.subject,
      serviceId: row.service_id ?? undefined,
      benefit: row.benefit,
      foundAt: row.found_at,
    }))
}

/** Sets a difference aside: it is listed no longer while it stays as it is. False when there is none of this kind. */
export async function setAside(
  tx: Executor,
  feed: string,
  of: Pick<KeptDifference, 'partnerId' | 'kind' | 'subject'> & {
    readonly at: Instant
    readonly reason: AsideReason
  },
): Promise<boolean> {
  const rows = await tx.query(sql`
    update feed_differences set aside_at = ${timestamp(of.at)}, aside_reason = ${of.reason}
    where partner_id = ${of.partnerId} and feed = ${feed} and kind = ${of.kind} and subject = ${of.subject}
      and aside_at is null
    returning 1`)
  return rows.length > 0
}

/** How many differences each feed has that nobody set aside, and since when the oldest: of these partners. */
export async function countDifferences(
  db: Executor,
  partners: readonly string[],
): Promise<ReadonlyMap<string, { readonly count: number; readonly oldestAt: Instant }>> {
  const rows = await db.query<{ feed: string; count: number; oldest_at: Instant }>(sql`
    select feed, count(*)::integer as count, min(found_at) as oldest_at from feed_differences
    where partner_id = any (${partners}::uuid[]) and aside_at is null group by feed`)
  const counts = new Map<string, { count: number; oldestAt: Instant }>()
  for (const row of rows) {
    const { count = 0, oldestAt = row.oldest_at } = counts.get(row.feed) ?? {}
    counts.set(row.feed, { count: count + row.count, oldestAt: Math.min(oldestAt, row.oldest_at) })
  }
  return counts
}
