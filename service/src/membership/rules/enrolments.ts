import { boundaryAfter, DAY_MS, dateOfAge, type Instant, startOfDate } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { type CloseReason, type Consent, type Enrolment, isInForce, type User } from './state.ts'
import { missingFor, type Terms } from './terms.ts'

const daysToAct = 30

/**
 * A new enrolment of a benefit under an offer from `startsAt` on: in force when that is reached, scheduled before;
 * `actionrequired` while a consent or a beneficiary is missing.
 */
export function newEnrolment(
  user: User,
  terms: Terms,
  fresh: { benefit: Benefit; offer: string; isFixed: boolean; pickedAt: Instant; startsAt: Instant },
): Enrolment {
  const isMissing = missingFor(user, fresh.benefit).length > 0
  const hasBegun = fresh.startsAt <= fresh.pickedAt
  const enrolment: Enrolment = {
    id: terms.newId(),
    benefit: fresh.benefit.name,
    offer: fresh.offer,
    isFixed: fresh.isFixed,
    state: isMissing ? 'actionrequired' : hasBegun ? 'enrolled' : 'scheduled',
    plannedBy: undefined,
    version: terms.today.version,
    pickedAt: fresh.pickedAt,
    startsAt: fresh.startsAt,
    endsAt: undefined,
    ownEnd: undefined,
    actionDueAt: isMissing ? actionDueAt(fresh.startsAt, fresh.pickedAt) : undefined,
    isSingle: false,
    closeReason: undefined,
  }
  return withAgeEnd(enrolment, fresh.benefit, terms)
}

/** When a pick that waits for its user is withdrawn: not before it would have started. */
export function actionDueAt(startsAt: Instant, pickedAt: Instant): Instant {
  return Math.max(startsAt, pickedAt + daysToAct * DAY_MS)
}

/** The enrolment with the end that its benefit's `endsatage` brings: the end of the period in which the age is reached. */
export function withAgeEnd(enrolment: Enrolment, benefit: Benefit | undefined, terms: Terms): Enrolment {
  const residence = terms.residence()
  if (enrolment.ownEnd !== undefined && enrolment.ownEnd.reason !== 'endsatage') return enrolment
  if (benefit?.endsatage === undefined || !residence) return { ...enrolment, ownEnd: undefined }
  const birthday = startOfDate(dateOfAge(residence.dob, benefit.endsatage), terms.zone)
  return {
    ...enrolment,
    ownEnd: { at: boundaryAfter(Math.max(birthday, enrolment.startsAt), terms.zone), reason: 'endsatage' },
  }
}

/** The enrolment over at `at`: ended when cover was in force, else withdrawn. */
export function closed(enrolment: Enrolment, at: Instant, closeReason: CloseReason): Enrolment {
  return {
    ...enrolment,
    state: isInForce(enrolment) ? 'ended' : 'withdrawn',
    endsAt: at,
    closeReason,
    plannedBy: undefined,
  }
}

/** The user with one enrolment in the place of the one with its id, or added. */
export function withEnrolment(user: User, enrolment: Enrolment): User {
  return {
    ...user,
    enrolments: user.enrolments.some(known => known.id === enrolment.id)
      ? user.enrolments.map(known => (known.id === enrolment.id ? enrolment : known))
      : [...user.enrolments, enrolment],
  }
}

/**
 * The consents with newer ones in the place of the same name and version. One that an operator put on record stays: it has
 * its evidence, which the newer one has not.
 */
export function mergeConsents(known: readonly Consent[], given: readonly Consent[]): readonly Consent[] {
  const isSame = (a: Consent, b: Consent) => a.name === b.name && a.version === b.version
  const fresh = given.filter(one => !known.some(old => isSame(old, one) && old.channel !== undefined))
  return [...known.filter(old => !fresh.some(one => isSame(old, one))), ...fresh]
}
