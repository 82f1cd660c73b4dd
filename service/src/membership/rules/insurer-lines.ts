import { addDays, type PlainDate } from '../../calendar/calendar.ts'

/** Days on which a person is covered by a benefit, both included; no last day while no end is set. */
export type Cover = { readonly startsOn: PlainDate; readonly endsOn: PlainDate | undefined }

/** What a line tells an insurer about one person and benefit. */
export const lineActions = ['add', 'change', 'correct', 'end', 'reinstate', 'void'] as const
export type LineAction = (typeof lineActions)[number]

/**
 * One period of cover as an insurer knows it: the newest line about it that was sent and not refused. `details` is a
 * fingerprint of everything else that the line said; `undefined`: not known, which differs from nothing.
 */
export type ToldCover = Cover & {
  /** Numbers the periods of one person and benefit in the order in which they were first told. */
  readonly number: number
  readonly details: string | undefined
  readonly isVoid: boolean
  /** The insurer's own list says otherwise, so that it must be said again. */
  readonly isDoubted?: boolean
}

/** A line to send: what the insurer should know afterwards, and `truth`, from which the line is filled; a void has none. */
export type InsurerLine<Truth extends Cover> = Cover & {
  readonly action: LineAction
  readonly number: number
  readonly details: string | undefined
  readonly truth: Truth | undefined
  /** The end of a cover that came and went before the insurer was told of it: it takes nothing away that the insurer had. */
  readonly hasPassed?: true
}

/** Today in the partner's zone, and how many days ahead pending starts and ends are told. */
export type Horizon = { readonly today: PlainDate; readonly aheadDays: number }

/**
 * The lines after which an insurer knows the truth about one person and benefit; [] when it does already. A pending start or
 * end beyond the horizon is told only where it was told before. A period that came and went before the insurer heard of it,
 * between two runs or while its lines stood refused, is told as an add and an end, where `counts` says that the insurer gets its
 * premium. Nothing is ever ended by being absent.
 */
export function linesFor<Truth extends CoverNow>(
  told: readonly ToldCover[],
  truth: readonly Truth[],
  {
    horizon,
    detailsOf,
    counts = () => false,
  }: {
    readonly horizon: Horizon
    readonly detailsOf: (truth: Truth) => string
    readonly counts?: (truth: Truth) => boolean
  },
): InsurerLine<Truth>[] {
  const last = addDays(horizon.today, horizon.aheadDays)
  const known = told.filter(one => !one.isVoid).sort(byStart)
  const { pairs, unmatched, fresh } = matched(known, [...truth].sort(byStart), horizon.today)
  const lines = pairs.flatMap(([before, now]): InsurerLine<Truth>[] => {
    const endsOn = endToTell(now, before.endsOn, last)
    const details = detailsOf(now)
    const again = before.isDoubted ? sayingAgain(now, horizon) : undefined
    const action = actionOf(before, { startsOn: now.startsOn, endsOn, details }, horizon.today) ?? again
    return action
      ? [{ action, number: before.number, startsOn: now.startsOn, endsOn, details, truth: now }]
      : []
  })
  for (const { number, startsOn, endsOn, details } of unmatched)
    lines.push({ action: 'void', number, startsOn, endsOn, details, truth: undefined })
  const hasEnded = pairs.some(([, now]) => isGone(now, last))
  let next = Math.max(0, ...told.map(one => one.number))
  for (const now of fresh) {
    const hasPassed = isGone(now, horizon.today)
    if ((hasPassed && !counts(now)) || now.startsOn > last) continue
    next += 1
    const action = hasEnded ? 'reinstate' : 'add'
    const endsOn = hasPassed ? undefined : endToTell(now, undefined, last)
    const line = { number: next, startsOn: now.startsOn, details: detailsOf(now), truth: now }
    lines.push({ ...line, action, endsOn })
    if (hasPassed) lines.push({ ...line, action: 'end', endsOn: now.endsOn, hasPassed })
  }
  return lines
}

/** A true period of cover. */
export type CoverNow = Cover & {
  /**
   * The day of the first instant without cover: the last day itself when it ended in the middle of that, else the day after.
   */
  readonly goneOn: PlainDate | undefined
  /** Whether an operator corrected its days. */
  readonly isMoved: boolean
}

/**
 * The lines by which an insurer is told again what it knows already: who is covered, as a change, and who no longer is, as an
 * end for as many days as `endsFrom` says. `news` are the lines of the same run, which are not said twice.
 */
export function restatedLines<Truth extends CoverNow>(
  told: readonly ToldCover[],
  truth: readonly Truth[],
  of: { readonly news: readonly InsurerLine<Truth>[]; readonly horizon: Horizon; readonly endsFrom: number },
): InsurerLine<Truth>[] {
  const { news, horizon, endsFrom } = of
  const { today } = horizon
  return told.flatMap((one): InsurerLine<Truth>[] => {
    const now = truth.find(({ startsOn }) => startsOn === one.startsOn)
    if (one.isVoid || now === undefined || news.some(({ number }) => number === one.number)) return []
    const isOver = one.endsOn !== undefined && isGone(now, today)
    if (isOver && one.endsOn < addDays(today, -endsFrom)) return []
    const { number, startsOn, endsOn, details } = one
    return [{ action: isOver ? 'end' : 'change', number, startsOn, endsOn, details, truth: now }]
  })
}

/** What an insurer knows after a line. */
export function afterLine({ action, number, startsOn, endsOn, details }: InsurerLine<Cover>): ToldCover {
  return { number, startsOn, endsOn, details, isVoid: action === 'void' }
}

/**
 * When the lines of a person can become other ones by time alone: the first day, after today, on which a start or an end
 * comes within the horizon; `undefined`: never.
 */
export function nextDayToTell(
  truth: readonly Pick<CoverNow, 'startsOn' | 'goneOn'>[],
  { today, aheadDays }: Horizon,
): PlainDate | undefined {
  const last = addDays(today, aheadDays)
  const [first] = truth
    .flatMap(({ startsOn, goneOn }) => [startsOn, ...(goneOn === undefined ? [] : [goneOn])])
    .filter(day => day > last)
    .sort()
  return first === undefined ? undefined : addDays(first, -aheadDays)
}

/** The end to tell: one within the horizon, or beyond it the one that was told before. */
function endToTell(now: CoverNow, told: PlainDate | undefined, last: PlainDate): PlainDate | undefined {
  return now.endsOn === told || isGone(now, last) ? now.endsOn : undefined
}

function isGone({ goneOn }: CoverNow, day: PlainDate): boolean {
  return goneOn !== undefined && goneOn <= day
}

/** What is said again ends a cover that is over, and else corrects it. */
function sayingAgain(now: CoverNow, { today }: Horizon): LineAction {
  return isGone(now, today) ? 'end' : 'correct'
}

function actionOf(
  before: ToldCover,
  now: Cover & { readonly details: string },
  today: PlainDate,
): LineAction | undefined {
  if (before.startsOn !== now.startsOn) return 'correct'
  if (before.endsOn === now.endsOn)
    return before.details === undefined || before.details === now.details ? undefined : 'change'
  if (before.endsOn === undefined) return 'end'
  const isBack = before.endsOn < today && (now.endsOn ?? today) >= today
  return now.endsOn === undefined || isBack ? 'reinstate' : 'correct'
}

type Matched<Truth> = {
  readonly pairs: readonly (readonly [ToldCover, Truth])[]
  readonly unmatched: readonly ToldCover[]
  readonly fresh: readonly Truth[]
}

/**
 * Which told period is which true one: that with the same first day, else one that shares a day with it, else one that is
 * over and was corrected, because it may have moved away from all of the days that were told.
 */
function matched<Truth extends CoverNow>(
  told: readonly ToldCover[],
  truth: readonly Truth[],
  today: PlainDate,
): Matched<Truth> {
  const mayHaveMoved = (_: Cover, now: CoverNow) => now.isMoved && isGone(now, today)
  const pairs: (readonly [ToldCover, Truth])[] = []
  let unmatched = told
  let fresh = truth
  for (const fits of [haveSameStart, shareDay, mayHaveMoved]) {
    for (const one of unmatched) {
      const now = fresh.find(candidate => fits(one, candidate))
      if (!now) continue
      pairs.push([one, now])
      fresh = fresh.filter(candidate => candidate !== now)
    }
    const found = new Set(pairs.map(([one]) => one))
    unmatched = unmatched.filter(one => !found.has(one))
  }
  return { pairs: pairs.sort(([a], [b]) => byStart(a, b)), unmatched, fresh }
}

function haveSameStart(a: Cover, b: Cover): boolean {
  return a.startsOn === b.startsOn
}

function shareDay(a: Cover, b: Cover): boolean {
  return (
    (a.endsOn === undefined || a.endsOn >= b.startsOn) && (b.endsOn === undefined || b.endsOn >= a.startsOn)
  )
}

function byStart(a: Cover, b: Cover): number {
  return a.startsOn < b.startsOn ? -1 : a.startsOn > b.startsOn ? 1 : 0
}
