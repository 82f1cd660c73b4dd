import { type Month, monthBefore, monthNamed } from '../../calendar/month.ts'
import type { Log } from '../../log.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CountContext } from '../../statements/count.ts'
import type { Months } from '../../statements/months.ts'
import { everyPage, FIRST_PLACE, type PlacedLine, readLines } from '../../statements/pages.ts'
import { openSummary, type Summary } from '../../statements/summary.ts'
import { openCounts } from './counts.ts'
import type { SlowWork } from './slow-work.ts'

/** Users who are in one of two months that follow each other, and not in the other. */
type Movers = { readonly count: number; readonly first: readonly Mover[] }
type Mover = { readonly serviceId: string; readonly userid: string | undefined }

/** What has been counted of a month until now. */
export type MonthCount = {
  readonly summary: () => Summary
  /** Users with a benefit or an offer in the month and none in the month before, and the other way around. */
  readonly came: Movers
  readonly went: Movers
  readonly isWhole: boolean
  /** Resolves when it is whole; rejects when it cannot be counted. */
  readonly done: Promise<void>
}

/** The counts of this process, shared by all operators. */
export type MonthCounts = { of(partner: Partner, month: Month, months: Months): MonthCount }

/** So many users who came, and as many who went, are named. */
export const MOST_NAMED = 100

/** Counts months user by user together with the month before, page by page beside the requests. */
export function openMonthCounts(
  context: CountContext,
  { slow, log }: { slow: Pick<SlowWork, 'inTurn'>; log: Log },
): MonthCounts {
  const counts = openCounts<MonthCount>(log)
  const usersOf = (partner: Partner, month: Month, months: Months) =>
    byUser(
      everyPage(
        from => slow.inTurn(() => readLines(context, partner, { month, months, from, isForOperator: true })),
        FIRST_PLACE,
      ),
    )
  const begin = (partner: Partner, month: Month, months: Months) => {
    const { add, summary } = openSummary()
    const count = { summary, came: noMovers(), went: noMovers(), isWhole: false }
    const before = monthNamed(monthBefore(month.name), month.zone)
    const compare = async () => {
      const [present, former] = [usersOf(partner, month, months), usersOf(partner, before, months)]
      let [here, there] = [await present.next(), await former.next()]
      while (here.value || there.value) {
        const [first, second] = [here.value, there.value]
        const one = first && !(second && second.serviceId < first.serviceId) ? first : undefined
        const other = second && !(first && first.serviceId < second.serviceId) ? second : undefined
        if (one) add(one.lines)
        if (one?.isIn && !other?.isIn) note(count.came, one)
        if (other?.isIn && !one?.isIn) note(count.went, other)
        if (one) here = await present.next()
        if (other) there = await former.next()
      }
      count.isWhole = true
    }
    const done = compare()
    return { count: Object.assign(count, { done }), done }
  }
  return {
    of: (partner, month, months) =>
      counts(`${partner.partnerId} ${month.name}`, () => begin(partner, month, months)),
  }
}

type UserOfMonth = Mover & {
  readonly lines: readonly PlacedLine[]
  /** Whether the user held anything; adjustments are of other months. */
  readonly isIn: boolean
}

async function* byUser(pages: AsyncIterable<readonly PlacedLine[]>): AsyncGenerator<UserOfMonth, undefined> {
  let own: PlacedLine[] = []
  for await (const page of pages)
    for (const line of page) {
      const [first] = own
      if (first && first.serviceId !== line.serviceId) {
        yield userOf(first, own)
        own = []
      }
      own.push(line)
    }
  const [first] = own
  if (first) yield userOf(first, own)
  return undefined
}

function userOf({ serviceId, userid }: PlacedLine, lines: readonly PlacedLine[]): UserOfMonth {
  return { serviceId, userid, lines, isIn: lines.some(({ line }) => line.kind !== 'adjustment') }
}

function noMovers(): { count: number; first: Mover[] } {
  return { count: 0, first: [] }
}

function note(movers: ReturnType<typeof noMovers>, { serviceId, userid }: UserOfMonth): void {
  movers.count += 1
  if (movers.first.length < MOST_NAMED) movers.first.push({ serviceId, userid })
}
