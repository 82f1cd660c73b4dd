import { boundaryAfter, DAY_MS, dateOfAge, type Instant, startOfDate } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import type { Dependant } from './dependant.ts'
import { coveredFrom } from './family.ts'
import { type CloseReason, type Consent, type Enrolment, isInForce, type User } from './state.ts'
import { missingFor, type Terms } from './terms.ts'

const DAYS_TO_ACT = 30

/**
 * A new enrolment of a benefit under an offer, from `startsAt` on: in force when `startsAt` has come, else scheduled;
 * `actionrequired` while a consent or a beneficiary is missing.
 */
export function newEnrolment(
  user: User,
  terms: Terms,
  fresh: {
    benefit: Benefit
    offer: string
    isFixed: boolean
    pickedAt: Instant
    startsAt: Instant
    /** Who else is covered, whom the benefit may cover. */
    dependants?: readonly Dependant[] | undefined
  },
): Enrolment {
  const isMissing = missingFor(user, fresh.benefit).length > 0
  const hasBegun = fresh.startsAt <= fresh.pickedAt
  const enrolment: Enrolment = {
    id: terms.newId(),
    benefit: fresh.benefit.name,
    offer: fresh.offer,
    isFixed: fresh.isFixed,
    state: isMissing ? 'actionrequired' : hasBegun ? 'enrolled' : 'scheduled',
    pendingBy: undefined,
    version: terms.today.version,
    pickedAt: fresh.pickedAt,
    startsAt: fresh.startsAt,
    endsAt: undefined,
    ownEnd: undefined,
    actionDueAt: isMissing ? actionDueAt(fresh.startsAt, fresh.pickedAt) : undefined,
    isSingle: false,
    closeReason: undefined,
    ...(fresh.dependants?.length && {
      covered: coveredFrom(fresh.benefit, fresh.dependants, { startsAt: fresh.startsAt, terms }),
    }),
  }
  return withAgeEnd(enrolment, fresh.benefit, { now: fresh.pickedAt, terms })
}

/** When an enrolment that waits for its user is withdrawn: never before it would have started. */
export function actionDueAt(startsAt: Instant, pickedAt: Instant): Instant {
  return Math.max(startsAt, pickedAt + DAYS_TO_ACT * DAY_MS)
}

/**
 * The last moment to give what the enrolment waits for: its due time, or earlier if a change or an age ends it first;
 * `undefined` when it waits for nothing. The API tells the due time alone, because contract §7 says what happens then.
 */
export function waitsUntil({ state, actionDueAt, endsAt, ownEnd }: Enrolment): Instant | undefined {
  if (state !== 'actionrequired') return undefined
  const ends = [actionDueAt, endsAt, ownEnd?.at].filter(at => at !== undefined)
  return ends.length === 0 ? undefined : Math.min(...ends)
}

/**
 * The enrolment with the end that its benefit's `endsatage` gives it: the end of the period in which the person reaches
 * that age. If a corrected birth date lies so that this period is over, it is the end of the present one, because no
 * cover is taken away for the past.
 */
export function withAgeEnd(
  enrolment: Enrolment,
  benefit: Benefit | undefined,
  { now, terms }: { now: Instant; terms: Terms },
): Enrolment {
  const residence = terms.residence()
  if (enrolment.ownEnd !== undefined && enrolment.ownEnd.reason !== 'endsatage') return enrolment
  if (benefit?.endsatage === undefined || !residence) return { ...enrolment, ownEnd: undefined }
  const birthday = startOfDate(dateOfAge(residence.dob, benefit.endsatage), terms.zone)
  return {
    ...enrolment,
    ownEnd: {
      at: boundaryAfter(Math.max(birthday, enrolment.startsAt, now), terms.zone),
      reason: 'endsatage',
    },
  }
}

/** The enrolment with an own end, or without one; an end that an operator gave before is forgotten. */
export function withOwnEnd(
  { correctedEnd: _, ...enrolment }: Enrolment,
  ownEnd: Enrolment['ownEnd'],
): Enrolment {
  return { ...enrolment, ownEnd }
}

/** The end that an operator gave, whether it applies or the enrolment now ends earlier. */
export function correctedEndOf({ ownEnd, correctedEnd }: Enrolment): Instant | undefined {
  return ownEnd?.reason === 'corrected' ? ownEnd.at : correctedEnd
}

/** The end that an operator gave, as an enrolment's own. */
export function endByCorrection(at: Instant | undefined): Enrolment['ownEnd'] {
  return at === undefined ? undefined : { at, reason: 'corrected' }
}

/** The enrolments that an operator's corrections have replaced by this one, the last one first. */
export function replacedBy(user: User, { corrects }: Pick<Enrolment, 'corrects'>): Enrolment[] {
  const wrong = corrects === undefined ? undefined : user.enrolments.find(({ id }) => id === corrects)
  return wrong ? [wrong, ...replacedBy(user, wrong)] : []
}

/** The enrolment closed at `at`: ended if its cover was in force, else withdrawn. */
export function closed(enrolment: Enrolment, at: Instant, closeReason: CloseReason): Enrolment {
  return {
    ...enrolment,
    state: isInForce(enrolment) ? 'ended' : 'withdrawn',
    endsAt: at,
    closeReason,
    pendingBy: undefined,
    ...(enrolment.pendingCover && { pendingCover: undefined }),
  }
}

/** The first of a user's enrolments in a benefit of which this is true. */
export function enrolmentOf(
  user: User,
  benefit: string,
  is: (enrolment: Enrolment) => boolean,
): Enrolment | undefined {
  return user.enrolments.find(enrolment => enrolment.benefit === benefit && is(enrolment))
}

/** The user with this enrolment added, or in the place of the one with its id. */
export function withEnrolment(user: User, enrolment: Enrolment): User {
  return {
    ...user,
    enrolments: user.enrolments.some(known => known.id === enrolment.id)
      ? user.enrolments.map(known => (known.id === enrolment.id ? enrolment : known))
      : [...user.enrolments, enrolment],
  }
}

/**
 * Adds the consents to texts that the user has not agreed to yet. An earlier consent to the same version stays as it is,
 * because cover may rest on it. Returns `known` itself when none is new.
 */
export function mergeConsents(known: readonly Consent[], given: readonly Consent[]): readonly Consent[] {
  const isSame = (a: Consent, b: Consent) => a.name === b.name && a.version === b.version
  const fresh = given.filter(
    (one, index) =>
      !known.some(old => isSame(old, one)) && index === given.findIndex(other => isSame(other, one)),
  )
  return fresh.length === 0 ? known : [...known, ...fresh]
}
