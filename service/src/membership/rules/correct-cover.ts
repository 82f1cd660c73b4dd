import { addDays, type Instant, type PlainDate, startOfDate } from '../../calendar/calendar.ts'
import { movable, no } from './corrections.ts'
import { withEnrolment } from './enrolments.ts'
import { daysOf } from './family.ts'
import type { Changed } from './intents.ts'
import type { Refusal } from './refusal.ts'
import { type Covered, type Enrolment, hasLength, raise, type User } from './state.ts'
import type { Terms } from './terms.ts'

/**
 * A correction of the days on which an enrolment covers a dependant: a death, a wrong date. An absent day does not change; `isVoid`:
 * it should never have covered them.
 */
export type CoverCorrection = {
  readonly enrolmentId: string
  readonly dependantId: string
  readonly firstDay?: PlainDate | undefined
  readonly lastDay?: PlainDate | undefined
  readonly isVoid?: boolean
}

/** The dependants whose days an operator may move, with the enrolments that cover or covered them. */
export function movableCovers(user: User): { readonly enrolment: Enrolment; readonly covered: Covered }[] {
  return movable(user).flatMap(enrolment =>
    (enrolment.covered ?? [])
      .filter(one => hasLength(daysOf(enrolment, one)))
      .filter(
        (one, index, all) =>
          all.findLastIndex(({ dependantId }) => dependantId === one.dependantId) === index,
      )
      .map(covered => ({ enrolment, covered })),
  )
}

/**
 * Moves the first or the last day of a dependant within an enrolment, for an operator; the rules of cover are not asked. Who has a last
 * day before a pending change of the benefit is no part of that any more. One event, `benefit_enrollment_corrected`, tells the
 * partner; the price follows. Refuses with `bad_request`, and a reason in words, days outside the benefit's, a first day to come, two
 * times at once, and no day at all.
 */
export function correctCover(
  user: User,
  { enrolmentId, dependantId, firstDay, lastDay, isVoid = false }: CoverCorrection,
  now: Instant,
  terms: Terms,
): Changed | Refusal {
  const found = movableCovers(user).find(
    one => one.enrolment.id === enrolmentId && one.covered.dependantId === dependantId,
  )
  if (!found) return no('dependant', 'unknown', 'This enrollment does not cover such a dependant.')
  const { enrolment, covered: wrong } = found
  const was = daysOf(enrolment, wrong)
  const startsAt = firstDay === undefined ? was.startsAt : startOfDate(firstDay, terms.zone)
  const given = lastDay === undefined ? was.endsAt : startOfDate(addDays(lastDay, 1), terms.zone)
  const endsAt = isVoid ? startsAt : given
  const others = (enrolment.covered ?? [])
    .filter(one => one !== wrong && one.dependantId === dependantId)
    .map(one => daysOf(enrolment, one))
  const refused =
    (startsAt < enrolment.startsAt && no('firstday', 'before_benefit', 'The benefit itself begins later.')) ||
    (firstDay !== undefined &&
      startsAt > now &&
      no('firstday', 'too_late', 'A first day to come is planned by a change of cover.')) ||
    (lastDay !== undefined &&
      enrolment.endsAt !== undefined &&
      (endsAt ?? 0) > enrolment.endsAt &&
      no('lastday', 'after_benefit', 'The benefit itself ends before that day.')) ||
    (wrong.isOver &&
      (endsAt ?? 0) > now &&
      no('lastday', 'is_over', 'It is over. To go on with it, plan a change of cover.')) ||
    (!isVoid &&
      endsAt !== undefined &&
      endsAt <= startsAt &&
      no('dates', 'no_day_left', 'No day of cover would be left.')) ||
    (others.some(days => hasLength(days) && (days.endsAt ?? NEVER) > startsAt) &&
      no('dates', 'overlaps', 'On some of these days the benefit covers the dependant already.'))
  if (refused) return refused
  if (startsAt === was.startsAt && endsAt === was.endsAt)
    return no('dependant', 'nothing_moves', 'Nothing would move: it is so already.')
  const isEnded = isVoid || lastDay !== undefined
  const end: Covered['end'] =
    isEnded && endsAt !== undefined ? { at: endsAt, reason: 'corrected' } : wrong.end
  const right: Covered = {
    ...wrong,
    // One without a day of their own would be covered again where the benefit itself moves to begin earlier.
    startsAt: startsAt === enrolment.startsAt && !isVoid ? undefined : startsAt,
    end,
    isOver: isVoid || (end !== undefined && end.at <= now),
  }
  const { pendingCover } = enrolment
  const isOverBy = (at: Instant) => isEnded && endsAt !== undefined && endsAt <= at
  const changed = withEnrolment(
    { ...user, updatedAt: now },
    {
      ...enrolment,
      covered: enrolment.covered?.map(one => (one === wrong ? right : one)),
      pendingCover:
        pendingCover && isOverBy(Math.max(pendingCover.at, enrolment.startsAt))
          ? { ...pendingCover, people: pendingCover.people.filter(one => one.dependantId !== dependantId) }
          : pendingCover,
    },
  )
  return { user: changed, events: [raise(changed, 'benefit_enrollment_corrected', now, enrolment.benefit)] }
}

const NEVER: Instant = Number.POSITIVE_INFINITY
