import { addDays, type Instant, type PlainDate, startOfDate, YEAR_MS } from '../../calendar/calendar.ts'
import { afterChange } from './apply-due.ts'
import { dropMisfitSwap, nextBoundary } from './boundary.ts'
import { withCover } from './cover.ts'
import { endByCorrection, replacedBy, withEnrolment, withOwnEnd } from './enrolments.ts'
import { coveredNow } from './family.ts'
import type { Changed } from './intents.ts'
import { because, type Refusal, refuse } from './refusal.ts'
import { type Enrolment, isActive, isHeld, isInForce, raise, type User } from './state.ts'
import type { Terms } from './terms.ts'

/** A correction by an operator: of an enrolment that should never have existed, or of one with wrong dates. */
export type Correction = { readonly enrolmentId: string } & (
  | { readonly kind: 'void' }
  | {
      readonly kind: 'move'
      /** The first and the last day of cover, in the partner's zone; a date that is absent does not change. */
      readonly firstDay?: PlainDate | undefined
      readonly lastDay?: PlainDate | undefined
    }
)

/** The enrolments that an operator may void: all except void ones and those that a pending change would bring. */
export function voidable(user: User): readonly Enrolment[] {
  return isMember(user)
    ? user.enrolments.filter(({ state, pendingBy }) => state !== 'void' && pendingBy === undefined)
    : []
}

/** The enrolments whose dates an operator may move: those with past, present or scheduled cover. */
export function movable(user: User): readonly Enrolment[] {
  return voidable(user).filter(one => one.state === 'ended' || one.state === 'scheduled' || isInForce(one))
}

/**
 * Voids an enrolment, or moves its dates: the old row is voided and kept, and a new row replaces it. One event,
 * `benefit_enrollment_corrected`, tells the partner; a pending swap that no longer fits is dropped. Refuses with
 * `bad_request`, and reasons in words, a correction that would make enrolments overlap, begin after a period's end, or
 * revive cover that is over.
 */
export function correctEnrolment(
  user: User,
  correction: Correction,
  now: Instant,
  terms: Terms,
): Changed | Refusal {
  const { enrolmentId, kind } = correction
  const candidates = kind === 'void' ? voidable(user) : movable(user)
  const wrong = candidates.find(({ id }) => id === enrolmentId)
  if (!wrong)
    return no('enrolment', 'unknown', 'There is no such enrollment that can be corrected like this.')
  if (kind === 'void') return corrected(user, { wrong, right: undefined }, { now, terms })
  const right = moved(user, wrong, correction, { now, terms })
  return 'refused' in right ? right : corrected(user, { wrong, right }, { now, terms })
}

type RulesNow = { readonly now: Instant; readonly terms: Terms }

/** Voids the wrong row and, if there is a right one, puts that in its place. */
function corrected(
  user: User,
  rows: { readonly wrong: Enrolment; readonly right: Enrolment | undefined },
  { now, terms }: RulesNow,
): Changed | Refusal {
  const { wrong, right } = rows
  const voided = withEnrolment(
    { ...user, updatedAt: now },
    { ...wrong, state: 'void', closeReason: 'corrected' },
  )
  const changed = right ? withEnrolment(voided, right) : voided
  const event = raise(changed, 'benefit_enrollment_corrected', now, wrong.benefit)
  const fitting = isActive(changed) ? dropMisfitSwap(changed, now, terms) : { user: changed, events: [] }
  const shown = afterChange(fitting, { user, now, terms })
  if (right && !isMoved(wrong, shown))
    return no(
      'enrolment',
      'nothing_moves',
      'Nothing would move: it is so already, or a pending change ends it before.',
    )
  return { user: fitting.user, events: [event, ...fitting.events] }
}

/** Whether the replacing row differs in its dates once pending changes are projected. */
function isMoved(wrong: Enrolment, { enrolments }: User): boolean {
  const right = enrolments.find(one => one.corrects === wrong.id)
  return (
    right !== undefined &&
    (right.startsAt !== wrong.startsAt ||
      right.endsAt !== wrong.endsAt ||
      (right.state === 'scheduled' && right.ownEnd?.at !== wrong.ownEnd?.at))
  )
}

/** The row with the right dates, and with the state that these dates give it now. */
function moved(
  user: User,
  wrong: Enrolment,
  dates: { readonly firstDay?: PlainDate | undefined; readonly lastDay?: PlainDate | undefined },
  { now, terms }: RulesNow,
): Enrolment | Refusal {
  const startsAt = dates.firstDay === undefined ? wrong.startsAt : startOfDate(dates.firstDay, terms.zone)
  const endsAt = dates.lastDay === undefined ? undefined : startOfDate(addDays(dates.lastDay, 1), terms.zone)
  const wasOver = wrong.state === 'ended'
  const isOver = endsAt === undefined ? wasOver : endsAt <= now
  const until = endsAt ?? Math.min(wrong.endsAt ?? NEVER, wasOver ? NEVER : (wrong.ownEnd?.at ?? NEVER))
  const refused =
    refusedStart(
      user,
      { wrong, startsAt: dates.firstDay === undefined ? undefined : startsAt, isOver },
      { now, terms },
    ) ??
    refusedEnd(user, { wasOver, endsAt }, now) ??
    (until <= startsAt
      ? no('dates', 'no_day_left', 'It would end before it begins: no day of cover would be left.')
      : refusedOverlap(user, wrong, { startsAt, until: isOver ? until : NEVER }))
  if (refused) return refused
  const right = { ...wrong, id: terms.newId(), corrects: wrong.id, startsAt }
  if (isOver)
    return {
      ...withOwnEnd(right, undefined),
      state: 'ended',
      endsAt: until,
      closeReason: endsAt === undefined ? wrong.closeReason : 'corrected',
    }
  return {
    ...(endsAt === undefined ? right : withOwnEnd(right, endByCorrection(endsAt))),
    state: startsAt <= now ? 'enrolled' : 'scheduled',
    endsAt: undefined,
    pendingCover: movedPlan(user, wrong, startsAt, { now, terms }),
  }
}

/**
 * The planned change of cover of an enrolment whose start moves: what was planned for the start goes with it, while that is to come,
 * without the children who have grown too old by then.
 */
function movedPlan(
  user: User,
  wrong: Enrolment,
  startsAt: Instant,
  { now, terms }: RulesNow,
): Enrolment['pendingCover'] {
  const { pendingCover } = wrong
  if (!pendingCover || pendingCover.at > wrong.startsAt) return pendingCover
  const at = startsAt > now ? startsAt : nextBoundary(user, now, terms)
  const ids = pendingCover.people.map(({ dependantId }) => dependantId)
  const then = coveredNow(withCover({ ...wrong, startsAt }, ids, at, terms))
  return {
    at,
    people: pendingCover.people.filter(one =>
      then.some(({ dependantId }) => dependantId === one.dependantId),
    ),
  }
}

function refusedStart(
  user: User,
  move: { readonly wrong: Enrolment; readonly startsAt: Instant | undefined; readonly isOver: boolean },
  { now, terms }: RulesNow,
): Refusal | undefined {
  const { wrong, startsAt, isOver } = move
  if (startsAt === undefined) return undefined
  // Corrections move the start, so the year counts from the first one; of a member who was moved in that lies before the pick.
  const first = replacedBy(user, wrong).at(-1) ?? wrong
  if (startsAt < Math.min(first.pickedAt, first.startsAt) - MOST_BACK_MS)
    return no('firstday', 'too_early', 'A start moves back a year at most.')
  if (isActive(user) && user.offer && !user.offer.inForce && startsAt < user.offer.since)
    return no('firstday', 'before_offer', 'The offer itself begins later.')
  if (isOver) return undefined
  // If it began after the next boundary, a change at that boundary could end it before it ever began.
  return startsAt > nextBoundary(user, now, terms)
    ? no('firstday', 'too_late', 'A start moves to the beginning of the next period at most.')
    : undefined
}

/** A start further back most likely has a mistyped year. */
const MOST_BACK_MS = YEAR_MS
const NEVER: Instant = Number.POSITIVE_INFINITY

function refusedEnd(
  user: User,
  { wasOver, endsAt }: { readonly wasOver: boolean; readonly endsAt: Instant | undefined },
  now: Instant,
): Refusal | undefined {
  if (endsAt === undefined || !wasOver) return undefined
  if (endsAt > now)
    return no(
      'lastday',
      'is_over',
      'It is over. To go on with it, let it be picked again, and move the start of that.',
    )
  return user.status === 'cancelled' && user.cancel && endsAt > user.cancel.at
    ? no('lastday', 'after_cancel', 'The membership itself ended before that day.')
    : undefined
}

function refusedOverlap(
  user: User,
  wrong: Enrolment,
  { startsAt, until }: { readonly startsAt: Instant; readonly until: Instant },
): Refusal | undefined {
  const clashes = user.enrolments.some(
    one =>
      one.id !== wrong.id &&
      one.benefit === wrong.benefit &&
      one.pendingBy === undefined &&
      (one.state === 'ended' || isHeld(one)) &&
      one.startsAt < until &&
      startsAt < (one.endsAt ?? NEVER),
  )
  return clashes
    ? no('dates', 'overlaps', 'On some of these days the person has the same benefit by another enrollment.')
    : undefined
}

function isMember(user: User): boolean {
  return user.status === 'active' || user.status === 'cancelled'
}

/** The refusal of a correction, with its reason in words. */
export function no(field: string, code: string, message: string): Refusal {
  return refuse('bad_request', [because(field, code, message)])
}
