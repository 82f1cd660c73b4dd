import { addDays, type PlainDate } from '../../calendar/calendar.ts'
import type { TierWorth } from '../../catalogue/tiers.ts'

/** Days on which a person is covered by a benefit, both included; no last day while no end is set. */
export type Cover = { readonly startsOn: PlainDate; readonly endsOn: PlainDate | undefined }

/** What a line tells an insurer about one person and benefit. */
export const lineActions = ['add', 'change', 'correct', 'end', 'reinstate', 'void'] as const
export type LineAction = (typeof lineActions)[number]

/** A tier of a cover and the day from which it holds; `undefined`: from the start of the cover. `''`: there are no tiers. */
export type TierStep = { readonly tier: string; readonly startsOn: PlainDate | undefined }
/** The same with what the cover costs and pays then; `undefined`: no line says so. */
export type WorthStep = TierStep & { readonly worth: TierWorth | undefined }

/**
 * One period of cover as an insurer knows it: the newest line about it that was sent and not refused. `details` is a
 * fingerprint of everything else that the line said; `undefined`: not known, which differs from nothing.
 */
export type ToldCover = Cover & {
  /** Numbers the periods of one user and benefit, whomever they cover, in the order in which they were first told. */
  readonly number: number
  readonly details: string | undefined
  /** The tier that was told last; `undefined`: not known, which differs from nothing. */
  readonly step?: TierStep | undefined
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
  readonly step?: WorthStep | undefined
  /** The first day of a new tier, which a change tells. */
  readonly changesOn?: PlainDate | undefined
  /** The end of a cover that came and went before the insurer was told of it: it takes nothing away that the insurer had. */
  readonly hasPassed?: true
}

/** Today in the partner's zone, and how many days ahead pending starts and ends are told. */
export type Horizon = { readonly today: PlainDate; readonly aheadDays: number }

/**
 * The lines after which an insurer knows the truth about one person and benefit; [] when it does already. A pending start or
 * end beyond the horizon is told only where it was told before. A period that came and went before the insurer heard of it,
 * between two runs or while its lines stood refused, is told as an add and an end, where `counts` says that the insurer gets its
 * premium. Each tier that came since is told as a change of its own, from its first day on. Nothing is ever ended by being absent.
 */
export function linesFor<Truth extends CoverNow>(
  told: readonly ToldCover[],
  truth: readonly Truth[],
  {
    horizon,
    detailsOf,
    counts = () => false,
    numbered = 0,
  }: {
    readonly horizon: Horizon
    readonly detailsOf: (truth: Truth, step: WorthStep | undefined) => string
    readonly counts?: (truth: Truth) => boolean
    /** The highest number that a period of another person has. */
    readonly numbered?: number
  },
): InsurerLine<Truth>[] {
  const last = addDays(horizon.today, horizon.aheadDays)
  const known = told.filter(one => !one.isVoid).sort(byStart)
  const { pairs, unmatched, fresh } = matched(known, [...truth].sort(byStart), horizon.today)
  const lines = pairs.flatMap(([before, truth]) => linesOfPair(before, truth, { horizon, last, detailsOf }))
  for (const { number, startsOn, endsOn, details, step } of unmatched)
    lines.push({
      ...{ action: 'void', number, startsOn, endsOn, details, truth: undefined },
      ...(step && { step: { ...step, worth: undefined } }),
    })
  const hasEnded = pairs.some(([, now]) => isGone(now, last))
  let next = Math.max(numbered, ...told.map(one => one.number))
  for (const now of fresh) {
    const hasPassed = isGone(now, horizon.today)
    if ((hasPassed && !counts(now)) || now.startsOn > last) continue
    next += 1
    const endsOn = hasPassed ? undefined : endToTell(now, undefined, last)
    const [step, ...later] = stepsUntil(now, last)
    const line = { number: next, startsOn: now.startsOn, details: detailsOf(now, step), step, truth: now }
    lines.push({ ...line, action: hasEnded ? 'reinstate' : 'add', endsOn })
    const changes = changesFor(later, { ...line, endsOn }, detailsOf)
    lines.push(...changes)
    if (hasPassed)
      lines.push({
        ...line,
        ...changes.at(-1),
        action: 'end',
        endsOn: now.endsOn,
        changesOn: undefined,
        hasPassed,
      })
  }
  return lines
}

function linesOfPair<Truth extends CoverNow>(
  before: ToldCover,
  now: Truth,
  {
    horizon,
    last,
    detailsOf,
  }: {
    readonly horizon: Horizon
    readonly last: PlainDate
    readonly detailsOf: (truth: Truth, step: WorthStep | undefined) => string
  },
): InsurerLine<Truth>[] {
  const endsOn = endToTell(now, before.endsOn, last)
  const { known, news } = stepsToTell(before.step, now, last)
  const step = news.at(-1) ?? known
  const details = detailsOf(now, step)
  const line = { number: before.number, startsOn: now.startsOn, details, step, truth: now }
  const again = before.isDoubted ? sayingAgain(now, horizon) : undefined
  const action = actionOf(before, { startsOn: now.startsOn, endsOn, details }, horizon.today) ?? again
  const isEnd = action === 'end'
  const told = { ...line, details: before.details, endsOn: isEnd ? before.endsOn : endsOn }
  const changes = before.details === undefined ? [] : changesFor(news, told, detailsOf)
  if (action === undefined || (action === 'change' && changes.length > 0)) return changes
  return isEnd ? [...changes, { ...line, action, endsOn }] : [{ ...line, action, endsOn }, ...changes]
}

/** A change for each of these tiers by which a line says something else than before. */
function changesFor<Truth extends CoverNow>(
  steps: readonly WorthStep[],
  told: Omit<InsurerLine<Truth>, 'action'> & { readonly truth: Truth },
  detailsOf: (truth: Truth, step: WorthStep | undefined) => string,
): InsurerLine<Truth>[] {
  let before = told.details
  return steps.flatMap(step => {
    const details = detailsOf(told.truth, step)
    if (details === before) return []
    before = details
    return [{ ...told, action: 'change', details, step, changesOn: step.startsOn ?? told.startsOn }]
  })
}

/** The tier that an insurer knows, if it still is one of the cover, and those that it must be told: all that came later. */
function stepsToTell(
  told: TierStep | undefined,
  now: CoverNow,
  last: PlainDate,
): { readonly known: WorthStep | undefined; readonly news: readonly WorthStep[] } {
  const steps = now.steps ?? []
  const due = stepsUntil(now, last)
  const at = told ? steps.findIndex(one => one.tier === told.tier && one.startsOn === told.startsOn) : -1
  if (at >= 0) return { known: steps[at], news: due.slice(at + 1) }
  // A tier of before there were any is no news by itself; one that was corrected or called off is replaced by that of now.
  const isReplaced = told !== undefined && told.tier !== ''
  return { known: stepOn(now, last), news: isReplaced ? due.slice(-1) : [] }
}

/** The tier that a cover has on a day, or from which it starts later. */
export function stepOn(cover: CoverNow, day: PlainDate): WorthStep | undefined {
  return stepsUntil(cover, day).at(-1)
}

function stepsUntil({ steps = [] }: CoverNow, last: PlainDate): readonly WorthStep[] {
  return steps.filter(({ startsOn }) => startsOn === undefined || startsOn <= last)
}

/** A true period of cover. */
export type CoverNow = Cover & {
  /**
   * The day of the first instant without cover: the last day itself when it ended in the middle of that, else the day after.
   */
  readonly goneOn: PlainDate | undefined
  /** Whether an operator corrected its days. */
  readonly isMoved: boolean
  /** The tiers that it has one after the other; absent where no line tells them. */
  readonly steps?: readonly WorthStep[]
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
    const step = stepsToTell(one.step, now, today).known
    return [{ action: isOver ? 'end' : 'change', number, startsOn, endsOn, details, truth: now, step }]
  })
}

/** What an insurer knows after a line. */
export function afterLine(line: InsurerLine<Cover>): ToldCover {
  const { action, number, startsOn, endsOn, details, step } = line
  return { number, startsOn, endsOn, details, step, isVoid: action === 'void' }
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
