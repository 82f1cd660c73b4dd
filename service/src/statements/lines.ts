/**
 * What one user's month is: the rule of the monthly statement (contract §16), pure. Everything else about statements only
 * feeds it, stores what it gives, and shows it.
 */
import { dayAt, type Instant, type PlainDate, writeDay } from '../calendar/calendar.ts'
import type { Month } from '../calendar/month.ts'
import type { Catalogue, MonthMode, Offer, Relationship } from '../catalogue/model.ts'
import { worthOf } from '../catalogue/tiers.ts'
import { type Enrolment, hasLength } from '../membership/rules/state.ts'
import { centsOf, daysIn, monthModeOf, type Span } from './amounts.ts'

/** A time for which a user had, has or will have a benefit or an offer, and the catalogue version under which it began. */
export type Period = {
  readonly name: string
  readonly version: number
  readonly startsAt: Instant
  /** `undefined`: no end is set. */
  readonly endsAt: Instant | undefined
  /** Who else is covered by the benefit, and when; of an erased user, who was all the time. */
  readonly covered?: readonly CoveredTime[] | undefined
  /** A later version whose prices hold since an instant. */
  readonly tiersFrom?: Enrolment['tiersFrom']
}

/** A time in which a benefit covers a dependant. */
export type CoveredTime = {
  readonly relationship: Relationship
  readonly startsAt: Instant
  readonly endsAt: Instant | undefined
}

/** One line of a statement, without its user. */
export type Line = {
  readonly kind: 'benefit' | 'offer' | 'adjustment'
  /** The benefit; `""` for an offer. */
  readonly name: string
  readonly offer: string
  readonly fromdate: PlainDate
  readonly todate: PlainDate
  /** How many days between them were in force; of an adjustment those that are counted now. */
  readonly days: number
  readonly personcents: number
  readonly takenby: '' | 'partner' | 'insurer'
  readonly partnercents: number
  /** The premium, which only the operator sees, and whose it is: the insurer's code, or its name where it has none. */
  readonly insurercents: number
  readonly insurer: string
  /** The month that an adjustment corrects; else `""`. */
  readonly about: string
  /** The tier whose prices it has; absent where the benefit has none. */
  readonly tier?: string | undefined
}

/** Finds the catalogue of a version. */
export type Catalogues = (version: number) => Catalogue

/**
 * The lines of one user about one month: one for each benefit and each offer that was in force at any time of it, benefits
 * first, each by name. An open end counts as in force to the end of the month.
 */
export function lines(
  benefits: readonly Period[],
  offers: readonly Period[],
  catalogues: Catalogues,
  month: Month,
): Line[] {
  const ordered = offers.filter(hasLength).sort(byStart)
  return [
    ...grouped(benefits, month).map(times =>
      benefitLine(times, { all: benefits, offers: ordered, catalogues, month }),
    ),
    ...grouped(offers, month).map(times =>
      offerLine(times, { all: offers, offers: ordered, catalogues, month }),
    ),
  ]
}

type Context = {
  readonly all: readonly Period[]
  readonly offers: readonly Period[]
  readonly catalogues: Catalogues
  readonly month: Month
}
type Times = readonly [Period, ...Period[]]

function benefitLine(times: Times, context: Context): Line {
  const { catalogues, offers, month } = context
  const [first] = times
  const last = times.at(-1) ?? first
  const from = ({ startsAt }: Period) => Math.max(startsAt, month.startsAt)
  const terms = times.map(time => {
    const { name, version, tiersFrom } = time
    const own = tiersFrom && tiersFrom.at <= from(time) ? tiersFrom.version : version
    return catalogues(own).benefits.get(name)
  })
  // The month has one tier, that of its first day: a change within it counts from the next.
  const who = coveredAt(first, from(first))
  const worths = terms.map(benefit => benefit && worthOf(benefit, who))
  const spans = times.map(time => {
    const run = runOf(time, context.all)
    const start = termsOf(offerAt(offers, run.startsAt), catalogues)
    const end = termsOf(offerAt(offers, lastInstant(run)), catalogues)
    return spanOf(time, { firstmonth: start?.firstmonth, lastmonth: end?.lastmonth }, context)
  })
  const amountOf = (price: 'cost' | 'premium') =>
    centsOf(
      spans.map((span, index) => ({ ...span, price: worths[index]?.[price] })),
      daysOf(month),
    )
  const cost = worths[0]?.cost
  return {
    kind: 'benefit',
    name: first.name,
    offer: offerAt(offers, Math.min(lastInstant(last), month.endsAt - 1))?.name ?? '',
    ...datesOf(spans, month),
    personcents: amountOf('cost'),
    takenby: cost && cost.cents > 0 ? (cost.taken?.by ?? '') : '',
    partnercents: 0,
    insurercents: amountOf('premium'),
    insurer: terms[0]?.insurer?.insurer ?? terms[0]?.insurer?.name ?? '',
    about: '',
    ...(worths[0]?.tier && { tier: worths[0].tier }),
  }
}

function coveredAt({ covered = [] }: Period, at: Instant): Relationship[] {
  return covered
    .filter(({ startsAt, endsAt }) => startsAt <= at && (endsAt === undefined || at < endsAt))
    .map(({ relationship }) => relationship)
}

function offerLine(times: Times, context: Context): Line {
  const { catalogues, month } = context
  const spans = times.map(time => {
    const { fee, firstmonth, lastmonth } = termsOf(time, catalogues) ?? {}
    return { ...spanOf(time, { firstmonth, lastmonth }, context), price: fee }
  })
  return {
    kind: 'offer',
    name: '',
    offer: times[0].name,
    ...datesOf(spans, month),
    personcents: 0,
    takenby: '',
    partnercents: centsOf(spans, daysOf(month)),
    insurercents: 0,
    insurer: '',
    about: '',
  }
}

/** The part of a period within the month, charged as its first or last one where the run that it is of began or ended in it. */
function spanOf(
  period: Period,
  { firstmonth, lastmonth }: Partial<Record<'firstmonth' | 'lastmonth', MonthMode | undefined>>,
  { all, month }: Context,
): Span {
  const { startsAt, endsAt = Number.POSITIVE_INFINITY } = period
  const run = runOf(period, all)
  const [isFirst, isLast] = [run.startsAt >= month.startsAt, run.endsAt <= month.endsAt]
  return {
    mode: monthModeOf(isFirst ? firstmonth : undefined, isLast ? lastmonth : undefined),
    firstDay: startsAt <= month.startsAt ? month.firstDay : dayAt(startsAt, month.zone),
    lastDay: endsAt >= month.endsAt ? month.lastDay : dayAt(endsAt - 1, month.zone),
  }
}

/** The time of a period and of those of its name that go on from each other before and after it. */
function runOf(
  { name, startsAt, endsAt = Number.POSITIVE_INFINITY }: Period,
  all: readonly Period[],
): { readonly startsAt: Instant; readonly endsAt: Instant } {
  const run = { startsAt, endsAt }
  const own = all.filter(one => one.name === name && hasLength(one)).sort(byStart)
  for (const one of own) if (one.startsAt === run.endsAt) run.endsAt = one.endsAt ?? Number.POSITIVE_INFINITY
  for (const one of own.toReversed()) if (one.endsAt === run.startsAt) run.startsAt = one.startsAt
  return run
}

function datesOf(spans: readonly Span[], month: Month): Pick<Line, 'fromdate' | 'todate' | 'days'> {
  const from = Math.min(...spans.map(({ firstDay }) => firstDay))
  const to = Math.max(...spans.map(({ lastDay }) => lastDay))
  return {
    fromdate: from === month.firstDay ? month.firstDate : writeDay(from),
    todate: to === month.lastDay ? month.lastDate : writeDay(to),
    days: daysIn(spans),
  }
}

function daysOf({ firstDay, lastDay }: Month): number {
  return lastDay - firstDay + 1
}

/** Periods that are in force at any time of the month, by name, each name's by start. */
function grouped(periods: readonly Period[], { startsAt, endsAt }: Month): Times[] {
  const byName = new Map<string, [Period, ...Period[]]>()
  const within = periods.filter(
    one => hasLength(one) && one.startsAt < endsAt && (one.endsAt === undefined || one.endsAt > startsAt),
  )
  for (const period of within.sort(byStart)) {
    const known = byName.get(period.name)
    if (known) known.push(period)
    else byName.set(period.name, [period])
  }
  return [...byName.values()].sort(([a], [b]) => (a.name < b.name ? -1 : 1))
}

function byStart(a: Period, b: Period): number {
  return a.startsAt - b.startsAt
}

function lastInstant({ endsAt }: Pick<Period, 'endsAt'>): Instant {
  return (endsAt ?? Number.POSITIVE_INFINITY) - 1
}

/** The offer at an instant; before the first one that, because a correction may put a start before it. */
function offerAt(offers: readonly Period[], at: Instant): Period | undefined {
  return offers.findLast(({ startsAt }) => startsAt <= at) ?? offers[0]
}

function termsOf(offer: Period | undefined, catalogues: Catalogues): Offer | undefined {
  return offer && catalogues(offer.version).offers.get(offer.name)
}
