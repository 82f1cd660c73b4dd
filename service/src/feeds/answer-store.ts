import type { Instant } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { fragment, type Query, sql, timestamp } from '../db/sql.ts'
import { findRefusedFarewells } from '../membership/records/farewells.ts'
import type { LineStatus } from '../membership/records/insurer-lines.ts'
import type { Partner } from '../partners/partner.ts'

/** A line that an insurer may answer, with the key that seals the answer. */
export type AnsweredLine = {
  readonly partner_id: string
  readonly service_id: string
  readonly userid: string
  readonly benefit: string
  /** Whom it is about; null: the member. */
  readonly dependant_id: string | null
  readonly feed: string
  readonly run: number
  readonly line: number
  readonly status: LineStatus
  readonly sealed_answer: Buffer | null
  readonly wrapped_key: Buffer
}

/** The lines of a run with these numbers, of a partner. */
export function findLinesOfRun(
  db: Executor,
  of: {
    readonly partnerId: string
    readonly feed: string
    readonly run: number
    readonly lines: readonly number[]
  },
): Promise<AnsweredLine[]> {
  return db.query(sql`
    select l.partner_id, l.service_id, u.userid, l.benefit, l.dependant_id, l.feed, l.run, l.line, l.status, l.sealed_answer, k.wrapped_key
    from insurer_lines l
    join users u on u.partner_id = l.partner_id and u.service_id = l.service_id
    join data_keys k on k.partner_id = l.partner_id and k.service_id = l.service_id
    where l.partner_id = ${of.partnerId} and l.feed = ${of.feed} and l.run = ${of.run} and l.line = any (${of.lines}::integer[])
    order by l.line`)
}

/**
 * The newest line of each of these members and their dependants for each benefit of a feed, up to a run: what was made after the last one that was
 * taken was not sent, so nobody can have answered it. With `alone` only those of that run.
 */
export function findLinesOfPeople(
  db: Executor,
  of: {
    readonly partnerId: string
    readonly feed: string
    readonly run: number
    readonly alone: boolean
    readonly serviceIds: readonly string[]
  },
): Promise<AnsweredLine[]> {
  return db.query(sql`
    select distinct on (l.service_id, l.benefit, l.dependant_id) l.partner_id, l.service_id, u.userid, l.benefit,
      l.dependant_id, l.feed, l.run, l.line, l.status, l.sealed_answer, k.wrapped_key
    from insurer_lines l
    join users u on u.partner_id = l.partner_id and u.service_id = l.service_id
    join data_keys k on k.partner_id = l.partner_id and k.service_id = l.service_id
    where l.partner_id = ${of.partnerId} and l.service_id = any (${of.serviceIds}::uuid[]) and l.feed = ${of.feed}
      and l.run <= ${of.run}::integer and (not ${of.alone} or l.run = ${of.run}::integer)
    order by l.service_id, l.benefit, l.dependant_id, l.told_at desc, l.run desc, l.line desc`)
}

/** Notes what an insurer answered to a line; one that is settled stays so when it is refused once more. */
export function noteAnswer(
  line: Pick<AnsweredLine, 'partner_id' | 'service_id' | 'benefit' | 'feed' | 'run' | 'line'>,
  answer: { readonly isAccepted: boolean; readonly sealed: Buffer; readonly at: Instant },
): Query {
  return sql`
    update insurer_lines
    set status = case when ${answer.isAccepted} then 'accepted' when status = 'settled' then status else 'refused' end,
      sealed_answer = ${answer.sealed},
      answered_at = ${timestamp(answer.at)}
    where partner_id = ${line.partner_id} and service_id = ${line.service_id} and benefit = ${line.benefit}
      and feed = ${line.feed} and run = ${line.run} and line = ${line.line}`
}

/** Nobody has settled it, and no later line of that person and benefit was accepted. */
const isRefused = fragment`l.status = 'refused' and not exists (
        select 1 from insurer_lines later
        where later.partner_id = l.partner_id and later.service_id = l.service_id and later.benefit = l.benefit
          and later.dependant_id is not distinct from l.dependant_id and later.feed = l.feed and (later.run, later.line) > (l.run, l.line)
          and later.status = 'accepted')`

/** A refused line, still sealed. */
export type RefusedRow = Pick<
  AnsweredLine,
  'service_id' | 'userid' | 'benefit' | 'dependant_id' | 'run' | 'line' | 'wrapped_key'
> & {
  readonly sealed_answer: Buffer
  readonly answered_at: Instant
}

/**
 * The refused lines of a partner's users in a feed with which nobody has dealt: no operator has settled them, and no later line
 * of that person and benefit was accepted. Of one run, if it is named.
 */
export function findRefused(
  db: Executor,
  of: { readonly partnerId: string; readonly feed: string; readonly run: number | undefined },
): Promise<RefusedRow[]> {
  return db.query(sql`
    select l.service_id, u.userid, l.benefit, l.dependant_id, l.run, l.line, l.sealed_answer, l.answered_at, k.wrapped_key
    from insurer_lines l
    join users u on u.partner_id = l.partner_id and u.service_id = l.service_id
    join data_keys k on k.partner_id = l.partner_id and k.service_id = l.service_id
    where l.partner_id = ${of.partnerId} and l.feed = ${of.feed}
      and (${of.run ?? null}::integer is null or l.run = ${of.run ?? null}::integer) and ${isRefused}
    order by l.run, l.line limit 10000`)
}

/** How many refused lines each feed has with which nobody has dealt, of these partners. */
export async function countRefused(
  db: Executor,
  partners: readonly Partner[],
): Promise<ReadonlyMap<string, number>> {
  const ids = partners.map(({ partnerId }) => partnerId)
  const rows = await db.query<{ feed: string; count: number }>(sql`
    select l.feed, count(*)::integer as count from insurer_lines l
    where l.partner_id = any (${ids}::uuid[]) and ${isRefused} group by l.feed`)
  const counts = new Map<string, number>()
  const add = (feed: string, count: number) => counts.set(feed, (counts.get(feed) ?? 0) + count)
  for (const { feed, count } of rows) add(feed, count)
  for (const partner of partners)
    for (const { refused } of await findRefusedFarewells(db, partner))
      for (const { feed } of refused) add(feed, 1)
  return counts
}
