import type { Instant } from '../calendar/calendar.ts'
import { type Month, type MonthName, monthAt, monthNamed, nextMonth } from '../calendar/month.ts'
import type { LongTurn } from '../http/shedding/long-reads.ts'
import type { ExecutorContext } from '../membership/command.ts'
import type { Partner } from '../partners/partner.ts'
import { uuidAfter } from '../vault/uuid.ts'
import { adjustments } from './adjustments.ts'
import { type Held, loadHeld } from './held.ts'
import { heldAt } from './held-at.ts'
import { type Line, lines, type Period } from './lines.ts'
import { type FinalLine, loadFinalLines, type StatementRow } from './store.ts'

/** What counting needs from the other parts of the service. */
export type CountContext = Pick<
  ExecutorContext,
  'database' | 'clock' | 'sandbox' | 'prepareTerms' | 'terms'
> & {
  /** Waits until a step of this partner's long read may begin; what it resolves to ends the step. Absent where nobody else is served. */
  readonly turn?: LongTurn
}

/** The lines of one user; an erased one has no userid. */
export type CountedUser = {
  readonly serviceId: string
  readonly userid: string | undefined
  readonly lines: readonly Line[]
}

/** Which users of a partner to count in a month that is not final. */
export type Count = {
  readonly month: Month
  /** The final months, where this month takes up their adjustments; else `undefined`. */
  readonly finals: readonly StatementRow[] | undefined
  readonly from: string
  readonly limit: number
  readonly now: Instant
}

/** Some users, counted; `next`: from where to go on, `undefined` at the end. */
export type Counted = { readonly users: readonly CountedUser[]; readonly next: string | undefined }

/** Counts some users, in order of their service ids. */
export async function countUsers(
  context: CountContext,
  partner: Partner,
  { month, finals, from, limit, now }: Count,
): Promise<Counted> {
  const { partnerId } = partner
  await context.prepareTerms([])
  const holders = await loadHeld(context.database, { partnerId, from, limit, month, now })
  const catalogues = context.terms(partner, () => undefined).version
  // Most users of a month held what others did, so their lines are made once.
  const known = new Map<Held, readonly Line[]>()
  const users: CountedUser[] = []
  for (const holder of holders) {
    const { serviceId, userid, held } = holder
    let own = known.get(held)
    // What an imported member held before was charged elsewhere, so no later correction of it counts either.
    const isCharged =
      held.chargedFrom === undefined || held.chargedFrom <= month.name || held.anewAt !== undefined
    if (!isCharged) own = []
    if (!own) {
      const { benefits, offers } = chargedIn(month.name, held, await heldAt(context, partner, holder, now))
      own = lines(benefits, offers, catalogues, month)
      if (!held.isPartial) known.set(held, own)
    }
    const corrections = isCharged && held.isCorrected && finals ? await correctionsOf(serviceId, finals) : []
    users.push({ serviceId, userid, lines: corrections.length === 0 ? own : [...own, ...corrections] })
  }
  const last = holders.at(-1)
  return { users, next: last && holders.length === limit ? uuidAfter(last.serviceId) : undefined }

  async function correctionsOf(serviceId: string, finals: readonly StatementRow[]): Promise<Line[]> {
    const query = { partnerId, from: serviceId, limit: 1, month: undefined, now }
    const [whole] = await loadHeld(context.database, query)
    if (!whole) return []
    const all = await heldAt(context, partner, whole, now)
    const months = finals.map(final => final.month)
    const told = byMonth(await loadFinalLines(context.database, { partnerId, serviceId, months }))
    const { chargedFrom = '', anewAt } = whole.held
    const held = firstMonth([...all.benefits, ...all.offers], partner) ?? month.name
    const anew = anewAt === undefined ? chargedFrom : monthAt(anewAt, partner.timezone)
    const charged = anew < chargedFrom ? anew : chargedFrom
    const first = held < charged ? charged : held
    const found: Line[] = []
    for (let name = [first, ...told.keys()].sort()[0] ?? first; name < month.name; name = nextMonth(name)) {
      const zone = finals.find(final => final.month === name)?.timezone ?? partner.timezone
      const { benefits, offers } = chargedIn(name, whole.held, all)
      const now = lines(benefits, offers, catalogues, monthNamed(name, zone))
      found.push(...adjustments(now, told.get(name) ?? [], name))
    }
    return found
  }
}

/**
 * What is charged in a month of what somebody held: before the month from which an import is charged, only what a later
 * membership brought.
 */
function chargedIn(
  month: MonthName,
  { chargedFrom, anewAt = Number.POSITIVE_INFINITY }: Held,
  held: Pick<Held, 'benefits' | 'offers'>,
): Pick<Held, 'benefits' | 'offers'> {
  if (chargedFrom === undefined || chargedFrom <= month) return held
  const isOfLater = ({ startsAt }: Period) => startsAt >= anewAt
  return { benefits: held.benefits.filter(isOfLater), offers: held.offers.filter(isOfLater) }
}

/** Lines by the month that they are about. */
function byMonth(final: readonly FinalLine[]): ReadonlyMap<string, readonly Line[]> {
  const found = new Map<string, Line[]>()
  for (const { month, line } of final) {
    const about = line.about || month
    found.set(about, [...(found.get(about) ?? []), line])
  }
  return found
}

function firstMonth(periods: readonly Period[], { timezone }: Partner): string | undefined {
  const starts = periods.map(({ startsAt }) => startsAt)
  return starts.length === 0 ? undefined : monthAt(Math.min(...starts), timezone)
}
