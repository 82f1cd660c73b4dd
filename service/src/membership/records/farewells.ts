import { DAY_MS, type Instant, type PlainDate } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Query, sql, timestamp } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { seal, unseal } from '../../vault/seal.ts'
import type { LineAction } from '../rules/insurer-lines.ts'
import type { Covered } from '../rules/state.ts'
import type { UserIds } from './sealed.ts'

/** What an insurer must still be told of a person who was erased; nothing in it names the person but the member number. */
export type Farewell = {
  readonly user: UserIds
  readonly insurer: string
  readonly benefit: string
  readonly action: LineAction
  readonly cover: number
  readonly startsOn: PlainDate
  readonly endsOn: PlainDate | undefined
  readonly memberId: string
  /** The dependant whose cover it was, and how they were related; absent: the member's. */
  readonly dependant?: Pick<Covered, 'dependantId' | 'relationship'> | undefined
}

/** A farewell in the form in which it is stored. */
export type FarewellRow = Omit<Farewell, 'startsOn' | 'endsOn' | 'memberId' | 'dependant'> & {
  readonly sealed: Buffer
  readonly keepUntil: Instant
}

type Content = Pick<Farewell, 'startsOn' | 'memberId' | 'dependant'> & {
  readonly endsOn: PlainDate | null
  readonly refused?: readonly RefusedFarewell[]
}

/** Which line an insurer refused; of its answer the code alone, as its text may name the person. */
export type RefusedFarewell = {
  readonly feed: string
  readonly run: number
  readonly line: number
  readonly code: string
}

const KEPT_MS = 90 * DAY_MS

/** Seals a farewell with the partner's key, for 90 days at most. */
export function sealFarewell(partner: Partner, farewell: Farewell, at: Instant): FarewellRow {
  const { user, insurer, benefit, action, cover } = farewell
  return {
    ...{ user, insurer, benefit, action, cover },
    sealed: sealedContent(partner, farewell),
    keepUntil: at + KEPT_MS,
  }
}

function sealedContent(
  { key }: Partner,
  farewell: Farewell & Partial<Pick<OpenFarewell, 'refused'>>,
): Buffer {
  const { user, startsOn, endsOn, memberId, dependant, refused } = farewell
  const content: Content = {
    ...{ startsOn, endsOn: endsOn ?? null, memberId, dependant },
    ...(refused && { refused }),
  }
  return seal(key.key, JSON.stringify(content), bindingOf(user))
}

/** A farewell, opened, with the run and line by which it was sent; line 0: it is still to be sent. */
export type OpenFarewell = Farewell & {
  readonly run: number
  readonly line: number
  /** The lines about it that the insurer refused. */
  readonly refused: readonly RefusedFarewell[]
}

type Row = {
  service_id: string
  insurer: string
  benefit: string
  cover: number
  action: LineAction
  sealed: Buffer
  run: number | null
  line: number | null
}

/** The farewells of a partner that wait for a feed about these benefits of an insurer; that of a member before those of dependants. */
export async function findWaitingFarewells(
  db: Executor,
  partner: Partner,
  { insurer, benefits }: { readonly insurer: string; readonly benefits: readonly string[] },
): Promise<OpenFarewell[]> {
  const rows = await db.query<Row>(sql`
    select service_id, insurer, benefit, cover, action, sealed, run, line from insurer_farewells
    where partner_id = ${partner.partnerId} and insurer = ${insurer} and benefit = any (${benefits}::text[]) and run is null
    order by service_id, benefit, cover`)
  const place = ({ user, dependant }: OpenFarewell) => `${user.serviceId} ${dependant ? 1 : 0}`
  return rows
    .map(row => opened(partner, row))
    .sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0))
}

/** The farewells of a partner, of all feeds, of which an insurer refused a line. */
export async function findRefusedFarewells(db: Executor, partner: Partner): Promise<OpenFarewell[]> {
  const rows = await db.query<Row>(sql`
    select service_id, insurer, benefit, cover, action, sealed, run, line from insurer_farewells
    where partner_id = ${partner.partnerId} order by service_id, benefit, cover`)
  return rows.map(row => opened(partner, row)).filter(({ refused }) => refused.length > 0)
}

/** The farewells that a run of a feed, or any, sent for a partner and that are still kept, by line. */
export async function findSentFarewells(
  db: Executor,
  partner: Partner,
  { feed, run }: { readonly feed: string; readonly run: number | undefined },
): Promise<OpenFarewell[]> {
  const rows = await db.query<Row>(sql`
    select service_id, insurer, benefit, cover, action, sealed, run, line from insurer_farewells
    where partner_id = ${partner.partnerId} and feed = ${feed}
      and (${run ?? null}::integer is null or run = ${run ?? null}::integer) order by run, line`)
  return rows.map(row => opened(partner, row))
}

/** Records by which line of a run a farewell is sent. */
export function noteFarewellSent(
  { user, benefit, cover }: Pick<Farewell, 'user' | 'benefit' | 'cover'>,
  sent: Omit<RefusedFarewell, 'code'>,
): Query {
  return sql`
    update insurer_farewells set feed = ${sent.feed}, run = ${sent.run}, line = ${sent.line}
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and benefit = ${benefit} and cover = ${cover}`
}

/** Records that the insurer refused a farewell, which then waits for the next run. */
export function noteFarewellRefused(
  partner: Partner,
  farewell: OpenFarewell,
  { feed, code }: Pick<RefusedFarewell, 'feed' | 'code'>,
): Query {
  const { user, benefit, cover, run, line } = farewell
  const refused = [...farewell.refused, { feed, run, line, code }]
  return sql`
    update insurer_farewells
    set feed = null, run = null, line = null, sealed = ${sealedContent(partner, { ...farewell, refused })}
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and benefit = ${benefit} and cover = ${cover}`
}

/** Deletes a farewell that the insurer accepted. */
export function deleteFarewell({
  user,
  benefit,
  cover,
}: Pick<Farewell, 'user' | 'benefit' | 'cover'>): Query {
  return sql`
    delete from insurer_farewells
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and benefit = ${benefit} and cover = ${cover}`
}

/** Deletes farewells that were kept for 90 days; returns how many. */
export async function deleteLapsedFarewells(
  db: Executor,
  partnerId: string,
  { now, atMost }: { readonly now: Instant; readonly atMost: number },
): Promise<number> {
  const rows = await db.query(sql`
    delete from insurer_farewells f using (
      select service_id, benefit, cover from insurer_farewells
      where partner_id = ${partnerId} and keep_until <= ${timestamp(now)} limit ${atMost}) as lapsed
    where f.partner_id = ${partnerId} and f.service_id = lapsed.service_id and f.benefit = lapsed.benefit
      and f.cover = lapsed.cover
    returning 1`)
  return rows.length
}

function opened(partner: Partner, row: Row): OpenFarewell {
  const user = { partnerId: partner.partnerId, serviceId: row.service_id }
  const content = JSON.parse(unseal(partner.key.key, row.sealed, bindingOf(user)).toString('utf8')) as Content
  const { insurer, benefit, cover, action, run, line } = row
  return {
    user,
    insurer,
    benefit,
    cover,
    action,
    run: run ?? 0,
    line: line ?? 0,
    refused: [],
    ...content,
    endsOn: content.endsOn ?? undefined,
  }
}

function bindingOf({ partnerId, serviceId }: UserIds) {
  return { purpose: 'insurer_farewells', partnerId, serviceId }
}
