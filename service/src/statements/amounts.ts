import type { MonthMode, Price } from '../catalogue/model.ts'

/** A time in force within one month: its days, numbered, and how the month is charged for it. */
export type Span = {
  readonly mode: MonthMode
  readonly firstDay: number
  readonly lastDay: number
}

/** The same with the price of that time. */
export type PricedSpan = Span & { readonly price: Pick<Price, 'cents' | 'per'> | undefined }

/** How a month that is somebody's first or last one is charged; of both: free if either is, else daily if either is. */
export function monthModeOf(first: MonthMode | undefined, last: MonthMode | undefined): MonthMode {
  if (first === 'free' || last === 'free') return 'free'
  return first === 'daily' || last === 'daily' ? 'daily' : 'full'
}

/**
 * The cents of one month for all times of one thing in it, the earliest first (contract §16). A full month counts once,
 * at the first price; daily counts each day once, at the price of its time, and rounds half up at the end; a weekly price
 * counts each Monday once.
 */
export function centsOf(spans: readonly PricedSpan[], daysOfMonth: number): number {
  const monthly = spans.filter(({ price, mode }) => price?.per === 'month' && mode !== 'free')
  const full = monthly.find(({ mode }) => mode === 'full')
  const byDay = sumOf(monthly, days)
  const monthlyCents = full
    ? (full.price?.cents ?? 0)
    : Math.floor((2 * byDay + daysOfMonth) / (2 * daysOfMonth))
  const weekly = spans.filter(({ price }) => price?.per === 'week')
  return monthlyCents + sumOf(weekly, mondays)
}

/** How many days some times cover, each day once. */
export function daysIn(spans: readonly Span[]): number {
  return sumOf(
    spans.map(span => ({ ...span, price: { cents: 1, per: 'month' } })),
    days,
  )
}

/** The sum of cents times days, or times Mondays; a day that two spans share belongs to the first. */
function sumOf(spans: readonly PricedSpan[], count: (firstDay: number, lastDay: number) => number): number {
  let sum = 0
  let counted = Number.NEGATIVE_INFINITY
  for (const { price, firstDay, lastDay } of spans) {
    const from = Math.max(firstDay, counted + 1)
    if (from <= lastDay) sum += (price?.cents ?? 0) * count(from, lastDay)
    counted = Math.max(counted, lastDay)
  }
  return sum
}

function days(firstDay: number, lastDay: number): number {
  return lastDay - firstDay + 1
}

/** Day 0, January 1, 1970, was a Thursday, so Mondays are the days 4, 11, 18 … */
function mondays(firstDay: number, lastDay: number): number {
  return Math.floor((lastDay + 3) / 7) - Math.floor((firstDay + 2) / 7)
}
