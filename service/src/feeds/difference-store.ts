import { noPartner } from '../audit/entries.ts'
import type { Instant } from '../calendar/calendar.ts'
import { bytes, texts, timestamps, uuids } from '../db/binary-array.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { openDataKey, openJson } from '../membership/records/sealed.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash } from '../vault/hash.ts'
import type { Keyring } from '../vault/keyring.ts'
import type { Difference, DifferenceKind, Differing } from './compare-list.ts'

/** A difference as it is kept: whom only the insurer knows is of no partner, and kept as a hash alone. */
export type KeptDifference = {
  readonly partnerId: string
  readonly kind: DifferenceKind
  readonly subject: Buffer
  readonly serviceId: string | undefined
  readonly benefit: string
  /** The dependant whom it is about; `undefined`: the member, or nobody here. */
  readonly person?: string | undefined
  readonly foundAt: Instant
  /** `''` for somebody whom only the insurer knows. */
  readonly userid: string
  /** What we say and what the insurer said then; of whom only the insurer knows nothing is kept. */
  readonly differs: readonly Differing[]
}

/** A difference to keep, with what is sealed of it. */
export type FoundDifference = Omit<KeptDifference, 'foundAt' | 'userid' | 'differs'> & {
  readonly sealed: Buffer | undefined
}

type Row = {
  partner_id: string
  kind: DifferenceKind
  subject: Buffer
  service_id: string | null
  benefit: string
  dependant_id: string | null
  found_at: Instant
  userid: string | null
  sealed: Buffer | null
  wrapped_key: Buffer | null
}

/** What a difference is about, as a hash: it may hold the number of somebody who is not ours. */
export function subjectOf(
  { peppers }: Pick<Keyring, 'peppers'>,
  feed: string,
  { serviceid, memberid, benefit, dependantid }: Omit<Difference, 'differs'>,
): Buffer {
  const who = serviceid === '' ? memberid : serviceid
  const named = [who, benefit, ...(dependantid ? [dependantid] : [])]
  return keyedHash(peppers.current.key, 'feed_differences.subject', feed, ...named)
}

/**
 * Notes what a comparison found: what was found before keeps its age and stays set aside, and what is no more goes. `partners` are
 * all partners.
 */
export async function noteDifferences(
  tx: Executor,
  feed: string,
  of: {
    readonly found: readonly FoundDifference[]
    readonly partners: readonly string[]
    readonly at: Instant
  },
): Promise<void> {
  for (const partnerId of [...of.partners, noPartner]) {
    const own = onceEach(of.found.filter(one => one.partnerId === partnerId)).sort((a, b) =>
      Buffer.compare(a.subject, b.subject),
    )
    await tx.query(sql`
      delete from feed_differences d
      where d.partner_id = ${partnerId} and d.feed = ${feed} and not exists (
        select from unnest(${texts(own.map(one => one.kind))}::text[], ${bytes(own.map(one => one.subject))}::bytea[])
          as found (kind, subject)
        where found.kind = d.kind and found.subject = d.subject)`)
    if (own.length === 0) continue
    await tx.query(sql`
      insert into feed_differences (partner_id, feed, kind, subject, service_id, benefit, dependant_id, sealed, found_at)
      select ${partnerId}::uuid, ${feed}, * from unnest(${texts(own.map(one => one.kind))}::text[],
        ${bytes(own.map(one => one.subject))}::bytea[], ${uuids(own.map(one => one.serviceId ?? null))}::uuid[],
        ${texts(own.map(one => one.benefit))}::text[], ${uuids(own.map(one => one.person ?? null))}::uuid[],
        ${bytes(own.map(one => one.sealed ?? null))}::bytea[],
        ${timestamps(own.map(() => of.at))}::timestamptz[])
      on conflict (partner_id, feed, kind, subject) do update set sealed = excluded.sealed`)
  }
}

/** One for each kind and subject: an insurer's list may have somebody three times, or two of a person's periods otherwise. */
function onceEach(found: readonly FoundDifference[]): FoundDifference[] {
  return [...new Map(found.map(one => [`${one.kind} ${one.subject.toString('hex')}`, one])).values()]
}

/**
 * The differences of a feed, the oldest first: of the people of these partners, and with `ofNobody` of those whom only the
 * insurer knows. What an operator had set aside before this was taken away stays so.
 */
export async function openDifferences(
  db: Executor,
  feed: string,
  { partners, ofNobody }: { readonly partners: readonly Partner[]; readonly ofNobody: boolean },
): Promise<KeptDifference[]> {
  const byId = new Map(partners.map(partner => [partner.partnerId, partner]))
  const ids = [...byId.keys(), ...(ofNobody ? [noPartner] : [])]
  const rows = await db.query<Row>(sql`
    select d.partner_id, d.kind, d.subject, d.service_id, d.benefit, d.dependant_id, d.found_at, d.sealed, u.userid, k.wrapped_key
    from feed_differences d
    left join users u on u.partner_id = d.partner_id and u.service_id = d.service_id
    left join data_keys k on k.partner_id = d.partner_id and k.service_id = d.service_id
    where d.partner_id = any (${ids}::uuid[]) and d.feed = ${feed} and d.aside_at is null
    order by d.found_at, d.kind, d.subject limit 10000`)
  return rows
    .toSorted((a, b) => a.found_at - b.found_at)
    .map(row => ({
      partnerId: row.partner_id,
      kind: row.kind,
      subject: row.subject,
      serviceId: row.service_id ?? undefined,
      benefit: row.benefit,
      person: row.dependant_id ?? undefined,
      foundAt: row.found_at,
      userid: row.userid ?? '',
      differs: opened(row, byId.get(row.partner_id)),
    }))
}

function opened(
  { service_id, sealed, wrapped_key }: Row,
  partner: Partner | undefined,
): readonly Differing[] {
  if (!partner || service_id === null || !sealed || !wrapped_key) return []
  const user = { partnerId: partner.partnerId, serviceId: service_id }
  return openJson(
    openDataKey(partner, service_id, wrapped_key),
    sealed,
    'feed_differences',
    user,
  ) as Differing[]
}

/** The kinds and subjects of the differences of a feed that were set aside while that could be done. */
export async function setAsideBefore(
  db: Executor,
  feed: string,
): Promise<readonly Pick<KeptDifference, 'kind' | 'subject'>[]> {
  return db.query(
    sql`select kind, subject from feed_differences where feed = ${feed} and aside_at is not null`,
  )
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
