import type { Instant } from '../calendar/calendar.ts'
import { integers, texts, timestamps, uuids } from '../db/binary-array.ts'
import type { Executor } from '../db/database.ts'
import { type Query, sql, timestamp } from '../db/sql.ts'
import type { Told } from '../membership/records/insurer-lines.ts'

/** The id that sorts before every service id. */
export const FIRST_SERVICE_ID = '00000000-0000-0000-0000-000000000000'

/** A user whom a run may have to tell something about. */
type Candidate = { readonly userid: string; readonly service_id: string; readonly version: number }

/** How many users one statement looks at. */
const LOOKED_AT = 5000

/**
 * The users, of the next 5,000 after a service id, who must be compared: all of them if `everybody`, else those whose version
 * a run of the feed has not seen, or for whom time alone may have changed something. `last` is where to continue; absent:
 * there are no more. Nobody's personal data is read.
 */
export async function findCandidates(
  db: Executor,
  of: {
    readonly partnerId: string
    readonly feed: string
    readonly after: string
    readonly now: Instant
    readonly everybody: boolean
  },
): Promise<{ readonly candidates: readonly Candidate[]; readonly last: string | undefined }> {
  const { partnerId, feed, after, now, everybody } = of
  // A run fills `feed_seen` in the same transaction, so PostgreSQL does not know its size and would compare each of these users
  // with every row there, beyond a statement's five seconds from 100,000 people on: `limit 1` has each looked up by its key.
  const rows = await db.query<Candidate & { is_candidate: boolean }>(sql`
    with looked_at as (
      select u.service_id, u.userid, u.version, u.due_at, u.is_current and u.offer is not null as may_hold from users u
      where u.partner_id = ${partnerId} and u.service_id > ${after}::uuid order by u.service_id limit ${LOOKED_AT}
    ), judged as (
      select l.service_id, l.userid, l.version, l.may_hold and (${everybody} or s.version is distinct from l.version
        or s.look_at <= ${timestamp(now)} or l.due_at <= ${timestamp(now)}) as is_candidate
      from looked_at l
      left join lateral (
        select version, look_at from feed_seen
        where partner_id = ${partnerId} and feed = ${feed} and service_id = l.service_id limit 1) s on true
    )
    select service_id, userid, version, is_candidate from judged
    where is_candidate or service_id = (select service_id from looked_at order by service_id desc limit 1)
    order by service_id`)
  return { candidates: rows.filter(row => row.is_candidate), last: rows.at(-1)?.service_id }
}

/** A user as a run compared it. */
export type SeenRow = {
  readonly serviceId: string
  readonly version: number
  readonly lookAt: Instant | undefined
}

/** Notes the versions of users that a run compared. */
export function noteSeen(
  rows: readonly SeenRow[],
  of: { readonly partnerId: string; readonly feed: string },
): Query {
  return sql`
    insert into feed_seen (partner_id, feed, service_id, version, look_at)
    select ${of.partnerId}::uuid, ${of.feed}, * from unnest(${uuids(rows.map(row => row.serviceId))}::uuid[],
      ${integers(rows.map(row => row.version))}::integer[], ${timestamps(rows.map(row => row.lookAt ?? null))}::timestamptz[])
    on conflict (partner_id, feed, service_id) do update set version = excluded.version, look_at = excluded.look_at`
}

/** Makes the next run compare users again, whatever their version. */
export function forgetSeen(
  serviceIds: readonly string[],
  { partnerId, feed }: { readonly partnerId: string; readonly feed: string },
): Query {
  return sql`
    delete from feed_seen
    where partner_id = ${partnerId} and feed = ${feed} and service_id = any (${uuids(serviceIds)}::uuid[])`
}

/**
 * Settles refused lines of compared users about which a run had nothing more to tell: what was refused is no longer so, and nobody
 * needs to deal with it.
 */
export function settleWhatIsLeft(
  rows: readonly SeenRow[],
  of: { readonly partnerId: string; readonly feed: string; readonly run: number },
): Query {
  return sql`
    update insurer_lines l set status = 'settled'
    where l.partner_id = ${of.partnerId} and l.service_id = any (${uuids(rows.map(row => row.serviceId))}::uuid[])
      and l.feed = ${of.feed} and l.run < ${of.run} and l.status = 'refused' and not exists (
        select from insurer_lines n
        where n.partner_id = ${of.partnerId} and n.service_id = l.service_id and n.benefit = l.benefit and n.feed = ${of.feed}
          and n.dependant_id is not distinct from l.dependant_id and n.run = ${of.run})`
}

/** Keeps users from being erased until the transaction ends, without holding up any other change of them. */
export function holdKeys(partnerId: string, serviceIds: readonly string[]): Query {
  return sql`
    select from data_keys
    where partner_id = ${partnerId} and service_id = any (${uuids(serviceIds)}::uuid[]) order by service_id for key share`
}

/** What an insurer knows of a cover of which a former system had told it. */
export type Learnt = Pick<Told, 'serviceId' | 'benefit' | 'person' | 'step'> & { readonly details: string }

/** Notes what an insurer knows of the details of covers of which a former system had told it. */
export function learnDetails(rows: readonly Learnt[], partnerId: string): Query {
  return sql`
    update insurer_lines l set details = decode(row.details, 'base64'), tier = row.tier, tier_starts_on = row.tier_starts_on
    from unnest(${uuids(rows.map(row => row.serviceId))}::uuid[], ${texts(rows.map(row => row.benefit))}::text[],
      ${uuids(rows.map(row => row.person || null))}::uuid[],
      ${texts(rows.map(row => Buffer.from(row.details, 'base64url').toString('base64')))}::text[],
      ${texts(rows.map(row => row.step?.tier || null))}::text[],
      ${texts(rows.map(row => row.step?.startsOn ?? null))}::text[]::date[])
      as row (service_id, benefit, dependant_id, details, tier, tier_starts_on)
    where l.partner_id = ${partnerId} and l.service_id = row.service_id and l.benefit = row.benefit
      and l.dependant_id is not distinct from row.dependant_id and l.feed = ''`
}

/** How many covers of a partner's users, each of one person, an insurer knew to be in force on a day, before a run. */
export async function countCovered(
  db: Executor,
  of: {
    readonly partnerId: string
    readonly insurer: string
    readonly benefits: readonly string[]
    readonly today: string
    readonly before: { readonly feed: string; readonly run: number }
  },
): Promise<number> {
  let total = 0
  let after: string | null = FIRST_SERVICE_ID
  while (after !== null) {
    const [row]: { last: string | null; covered: number }[] = await db.query(sql`
      with people as (
        select service_id from users
        where partner_id = ${of.partnerId} and service_id > ${after}::uuid order by service_id limit ${LOOKED_AT}
      ), farthest as (select service_id from people order by service_id desc limit 1)
      select (select service_id from farthest) as last, (select count(*)::integer from (
        select distinct on (service_id, benefit, cover) action, ends_on from insurer_lines
        where partner_id = ${of.partnerId} and service_id > ${after}::uuid and service_id <= (select service_id from farthest)
          and insurer = ${of.insurer} and benefit = any (${of.benefits}::text[])
          and status in ('sent', 'accepted', 'doubted') and (feed <> ${of.before.feed} or run < ${of.before.run})
        order by service_id, benefit, cover, told_at desc, run desc, line desc) newest
        where action <> 'void' and (ends_on is null or ends_on >= ${of.today}::date)) as covered`)
    total += row?.covered ?? 0
    after = row?.last ?? null
  }
  return total
}
