import type { Month } from '../calendar/month.ts'
import { inSteps, inTurn } from '../http/shedding/long-reads.ts'
import { loadDocuments } from '../membership/reading/load.ts'
import { openDataKey, openJson } from '../membership/records/sealed.ts'
import type { Person } from '../membership/rules/person.ts'
import type { Partner } from '../partners/partner.ts'
import { NIL_UUID } from '../vault/uuid.ts'
import { type Count, type CountContext, type Counted, countUsers } from './count.ts'
import type { Line } from './lines.ts'
import type { Months } from './months.ts'
import { loadLines, type UserLine } from './store.ts'
import { isShown } from './totals.ts'

/** A line with what is true of its user today. */
export type ShownLine = UserLine & {
  /** `""` for an erased user. */
  readonly userid: string
  readonly moredetails: Readonly<Record<string, string>>
}

/** The place of a line in its month. */
export type LinePosition = { readonly serviceId: string; readonly place: number }

/** The place at which a month begins. */
export const FIRST_PLACE: LinePosition = { serviceId: NIL_UUID, place: 0 }

/** A place as partners get it, as a cursor. */
export function writePlace({ serviceId, place }: LinePosition): string {
  return `${serviceId}.${place}`
}

/** The place that a cursor names, whose form the description checks; without one, that at which a month begins. */
export function readPlace(cursor: string | undefined): LinePosition {
  const [serviceId, place] = cursor?.split('.') ?? []
  return serviceId === undefined ? FIRST_PLACE : { serviceId, place: Number(place) }
}

/** A line as it is stored or counted; an erased user has no userid. */
export type PlacedLine = UserLine & { readonly userid: string | undefined }

/** Which lines of which month. */
export type PageQuery = {
  readonly month: Month
  readonly months: Months
  readonly from: LinePosition
  /** The operator also sees adjustments of the premium alone. */
  readonly isForOperator: boolean
}

const PAGE = 500

/** One page of a month's lines, in order of users, and where the next one begins; `undefined` at the end. */
export async function readLines(
  context: CountContext,
  partner: Partner,
  query: PageQuery,
): Promise<{ lines: PlacedLine[]; next: LinePosition | undefined }> {
  const { month, months, from, isForOperator } = query
  const isFinal = months.finals.some(final => final.month === month.name)
  const { partnerId } = partner
  const placed = isFinal
    ? await inTurn(context.turn, partner.partnerId, () =>
        loadLines(context.database, {
          partnerId,
          month: month.name,
          from: from.serviceId,
          place: from.place,
          limit: PAGE + 1,
          isForOperator,
        }),
      )
    : await countPage(context, partner, query)
  return { lines: placed.slice(0, PAGE), next: placed[PAGE] }
}

/** The same with what is true of the users today. */
export async function readPage(
  context: CountContext,
  partner: Partner,
  query: PageQuery,
): Promise<{ lines: ShownLine[]; next: LinePosition | undefined }> {
  const { lines, next } = await readLines(context, partner, query)
  return { lines: await withDetails(context, partner, lines), next }
}

const USERS_OF_A_STEP = 250

async function countPage(
  context: CountContext,
  partner: Partner,
  { month, months, from, isForOperator }: PageQuery,
): Promise<PlacedLine[]> {
  const { now, oldestOpen } = months
  const finals = month.name === oldestOpen.name ? months.finals : undefined
  const found: PlacedLine[] = []
  for (let start: string | undefined = from.serviceId; start !== undefined && found.length <= PAGE; ) {
    const count: Count = { month, finals, from: start, limit: USERS_OF_A_STEP, now }
    const step: Counted = await inTurn(context.turn, partner.partnerId, () =>
      countUsers(context, partner, count),
    )
    for (const { serviceId, userid, lines } of step.users)
      for (const [place, line] of lines.entries()) {
        const isBefore = serviceId === from.serviceId && place < from.place
        if (!isBefore && (isForOperator || isShown(line))) found.push({ serviceId, userid, place, line })
      }
    start = step.next
  }
  return found
}

/** Adds the partner's own facts of each user, as they are today. */
async function withDetails(
  { database, turn }: CountContext,
  partner: Partner,
  lines: readonly PlacedLine[],
): Promise<ShownLine[]> {
  const userids = [...new Set(lines.flatMap(({ userid }) => userid ?? []))]
  const { partnerId } = partner
  const names = userids.map(userid => ({ partnerId, userid }))
  const rows = await inTurn(turn, partnerId, () => loadDocuments(database, names))
  const details = new Map<string, Person['moredetails']>()
  await inSteps(turn, partnerId, {
    rows: rows.filter(({ kind }) => kind === 'profile'),
    make({ service_id: serviceId, sealed, wrapped_key: wrapped }) {
      const key = openDataKey(partner, serviceId, wrapped)
      const person = openJson(key, sealed, 'documents.profile', { partnerId, serviceId }) as Person
      details.set(serviceId, person.moredetails)
    },
  })
  return lines.map(line => ({
    ...line,
    userid: line.userid ?? '',
    moredetails: (line.userid !== undefined && details.get(line.serviceId)) || {},
  }))
}

/** All pages of a month, one after the other, by `readLines` or `readPage`. */
export async function* everyPage<Line>(
  readPageFrom: (from: LinePosition) => Promise<{ lines: Line[]; next: LinePosition | undefined }>,
  first: LinePosition,
): AsyncGenerator<Line[]> {
  type Page = { lines: Line[]; next: LinePosition | undefined }
  let reading: Promise<Page> | undefined = readPageFrom(first)
  while (reading) {
    const { lines, next }: Page = await reading
    // The database reads the next page while this one is written. Whoever stops here never awaits it.
    reading = next && readPageFrom(next)
    reading?.catch(() => {})
    yield lines
  }
}

/** All lines of a month with what is true of their users today, page by page. */
export function readPages(
  context: CountContext,
  partner: Partner,
  query: PageQuery,
): AsyncGenerator<ShownLine[]> {
  return everyPage(from => readPage(context, partner, { ...query, from }), query.from)
}

/**
 * Whether the file of a month has the column `tier`: where one of its lines has a tier (contract §19). Lines are read for that only where
 * any version of the catalogue has tiers.
 */
export async function hasTierColumn(
  context: CountContext,
  partner: Partner,
  query: PageQuery,
): Promise<boolean> {
  await context.prepareTerms([])
  const { today } = context.terms(partner, () => undefined)
  const versions = Array.from({ length: today.version }, (_, index) => index + 1)
  await context.prepareTerms(versions)
  const { version } = context.terms(partner, () => undefined)
  const isTiered = versions.some(one => [...version(one).benefits.values()].some(({ tiers }) => tiers))
  if (!isTiered) return false
  const pages = everyPage(from => readLines(context, partner, { ...query, from }), FIRST_PLACE)
  for await (const lines of pages) if (lines.some(({ line }) => line.tier !== undefined)) return true
  return false
}

/** A line as the API names its members. */
export function wireLine({ serviceId, userid, moredetails, line }: ShownLine) {
  const { kind, name, offer, fromdate, todate, personcents, takenby, partnercents, about, days, tier }: Line =
    line
  return {
    userid,
    serviceid: serviceId,
    kind,
    name,
    offer,
    fromdate,
    todate,
    personcents,
    takenby,
    partnercents,
    about,
    moredetails,
    days,
    ...(tier !== undefined && { tier }),
  }
}
