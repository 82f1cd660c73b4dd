import { type Instant, reinstatableUntil } from '../calendar/calendar.ts'
import { judgeHeldOffer, type Verdict } from '../catalogue/eligibility.ts'
import type { Benefit, Offer } from '../catalogue/model.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import {
  correctedEndOf,
  endByCorrection,
  newEnrolment,
  replacedBy,
  withEnrolment,
} from '../membership/rules/enrolments.ts'
import { brokenRules, correctedCoverEnd, coveredNow, namedDependants } from '../membership/rules/family.ts'
import type { Changed } from '../membership/rules/intents.ts'
import { because, type Refusal, reasonsFor, refuse } from '../membership/rules/refusal.ts'
import {
  byEnrolledFirst,
  type Covered,
  type Enrolment,
  hasPendingCancel,
  heldEnrolment,
  raise,
  type User,
} from '../membership/rules/state.ts'
import {
  factsAt,
  heldTerms,
  judgePick,
  offerOf,
  openBenefit,
  partnerOffer,
  slotsTaken,
  type Terms,
} from '../membership/rules/terms.ts'

/** Why a benefit could not return: a rule's reason, or it is closed, or there is no slot for it. */
type NotRestored = {
  readonly name: string
  readonly code: string
  readonly text: Texts
  /** Somebody whom the benefit, which did return, covers no more. */
  readonly dependantid?: string
}
type Texts = { readonly en: string; readonly es: string }

/** The result of a reinstatement. */
type Reinstated = Changed & { readonly notRestored: readonly NotRestored[] }

type Cancel = { readonly at: Instant; readonly requestedAt: Instant }

/**
 * Undoes a pending cancel as if it had never been made, or restores offer and picks from now on if the cancel took
 * effect less than 30 days ago; eligibility is judged again. Pending changes that the cancel dropped stay dropped, and
 * an end that an operator gave a benefit still holds.
 */
export function reinstateAccount(user: User, now: Instant, terms: Terms): Reinstated | Refusal {
  if (!user.cancel || !user.offer) return refuse('not_cancelled')
  return hasPendingCancel(user)
    ? undoCancel(user, user.cancel, { now, terms })
    : comeBack(user, user.cancel, { now, terms })
}

type RulesNow = { readonly now: Instant; readonly terms: Terms }

/** Benefits that the cancel withdrew are scheduled again, unless another benefit has taken their slot since. */
function undoCancel(user: User, cancel: Cancel, { now, terms }: RulesNow): Reinstated {
  const offer = offerOf(terms, user)
  const active: User = { ...user, cancel: undefined, updatedAt: now }
  const back = restore(active, {
    cancel,
    offer,
    judge: enrolment => {
      const benefit = heldTerms(terms, enrolment)
      if (!benefit) return undefined
      const startsAt = Math.max(now, enrolment.startsAt)
      // Judged with the age at the first start: growing older since then costs nobody a benefit.
      const verdict = judgePick(terms, benefit, enrolment.startsAt, enrolment.offer)
      const { pickedAt, version, isSingle } = enrolment
      return { benefit, verdict, startsAt, pickedAt, version, isSingle }
    },
    now,
    terms,
  })
  return { ...back, events: [raise(back.user, 'offer_reinstate_successful', now)] }
}

/**
 * Restores the offer by today's catalogue, and the picks with it; a pick that had not begun begins when it would have.
 */
function comeBack(user: User, cancel: Cancel, { now, terms }: RulesNow): Reinstated | Refusal {
  if (now >= reinstatableUntil(cancel.at, terms.zone)) return refuse('reinstate_expired')
  const offer = user.offer && partnerOffer(terms, user.offer.name)
  if (!offer || !user.offer) return refuse('ineligible', [because('offername', 'offer_closed', offerClosed)])
  const startsAt = Math.max(now, user.offer.since)
  const verdict = judgeHeldOffer(offer, factsAt(terms, startsAt, offer.offer))
  if (!verdict.admitted) return refuse('ineligible', reasonsFor('offername', verdict.reasons))
  const inForce = startsAt <= now
  const active: User = {
    ...user,
    status: 'active',
    cancel: undefined,
    updatedAt: now,
    offer: { name: offer.offer, since: startsAt, version: terms.today.version, inForce, admits: true },
  }
  const back = restore(active, {
    cancel,
    offer,
    judge: enrolment => {
      const benefit = openBenefit(terms, enrolment.benefit)
      const again = benefit && judgePick(terms, benefit, startsAt, offer.offer)
      return benefit && again
        ? { benefit, verdict: again, startsAt, pickedAt: now, version: terms.today.version, isSingle: false }
        : undefined
    },
    now,
    terms,
  })
  const events = [raise(back.user, 'offer_reinstate_successful', now)]
  if (inForce) events.push(raise(back.user, 'offer_activiation_successful', now))
  return { ...back, events }
}

type Return = {
  readonly benefit: Benefit
  readonly verdict: Verdict
  readonly startsAt: Instant
  readonly pickedAt: Instant
  readonly version: number
  readonly isSingle: boolean
}

type Restoring = {
  readonly cancel: Cancel
  readonly offer: Offer | undefined
  readonly judge: (enrolment: Enrolment) => Return | undefined
} & RulesNow

/** Restores as new rows the enrolments that the cancel closed: the earliest first, while there are slots. */
function restore(user: User, restoring: Restoring): { user: User; notRestored: NotRestored[] } {
  const { cancel, offer, judge, now, terms } = restoring
  const notRestored: NotRestored[] = []
  let back = user
  for (const enrolment of [...user.enrolments].sort(byEnrolledFirst)) {
    const name = enrolment.benefit
    if (heldEnrolment(back, name) || wasDeclinedSince(user, enrolment)) continue
    if (isCutSince(user, cancel, enrolment, now)) notRestored.push({ name, ...endedReason })
    if (!isClosedBy(cancel, enrolment)) continue
    const isFixed = offer?.fixed.includes(name) ?? false
    const isOfOffer = isFixed || (offer?.selectable.includes(name) ?? false)
    const found = isOfOffer ? judge(enrolment) : undefined
    const [reason] = found?.verdict.reasons ?? []
    if (!found || !offer) notRestored.push({ name, ...closedReason })
    else if (reason) notRestored.push({ name, ...reason })
    else if (!isFixed && slotsTaken(back) >= offer.slots) notRestored.push({ name, ...fullReason })
    else {
      const family = returning(found.benefit, enrolment, found.startsAt, terms)
      const { dependants } = family
      const fresh = {
        benefit: found.benefit,
        offer: offer.offer,
        isFixed,
        startsAt: found.startsAt,
        dependants,
      }
      const again = newEnrolment(back, terms, { ...fresh, pickedAt: now })
      const waits = again.state === 'actionrequired' && found.pickedAt < now
      // It would have lapsed by now if there had been no cancel.
      if (waits && isOverdue(enrolment, now)) {
        notRestored.push({ name, ...lapsedReason })
        continue
      }
      const corrected = correctedEndOf(enrolment)
      if (corrected !== undefined && corrected <= found.startsAt) {
        notRestored.push({ name, ...endedReason })
        continue
      }
      back = withEnrolment(back, {
        ...again,
        ownEnd: endByCorrection(corrected) ?? again.ownEnd,
        pickedAt: found.pickedAt,
        version: found.version,
        isSingle: found.isSingle,
        covered: again.covered?.map(one => ({ ...one, end: family.endOf(one.dependantId) ?? one.end })),
        actionDueAt: waits ? enrolment.actionDueAt : again.actionDueAt,
      })
      notRestored.push(...family.notRestored)
    }
  }
  return { user: back, notRestored }
}

type Returning = {
  readonly dependants: readonly Dependant[]
  /** The end that an operator gave the cover of a dependant. */
  readonly endOf: (dependantId: string) => Covered['end']
  readonly notRestored: readonly NotRestored[]
}

/** Those whom a benefit covered last, and may cover again from an instant on; and why others do not return with it. */
function returning(benefit: Benefit, enrolment: Enrolment, startsAt: Instant, terms: Terms): Returning {
  const last = coveredNow(enrolment)
  const endOf = (id: string) => correctedCoverEnd(last.find(({ dependantId }) => dependantId === id))
  const isOver = (id: string) => (endOf(id)?.at ?? Number.POSITIVE_INFINITY) <= startsAt
  const ids = last.map(({ dependantId }) => dependantId)
  const people = namedDependants(
    terms,
    ids.filter(id => !isOver(id)),
  )
  const broken = brokenRules(benefit, people, startsAt, terms)
  const name = enrolment.benefit
  return {
    dependants: people.filter(({ dependantid }) => !broken.has(dependantid)),
    endOf,
    notRestored: ids.flatMap(dependantid => {
      const code = isOver(dependantid) ? endedReason.code : broken.get(dependantid)
      return code === undefined ? [] : [{ name, code, dependantid, text: dependantReason }]
    }),
  }
}

const dependantReason = {
  en: 'This benefit cannot cover one of your dependants any more.',
  es: 'Este beneficio ya no puede cubrir a una de las personas a su cargo.',
}

function isClosedBy(cancel: Cancel, enrolment: Enrolment): boolean {
  return (
    enrolment.closeReason === 'cancelled' &&
    (enrolment.endsAt === cancel.at || enrolment.endsAt === cancel.requestedAt)
  )
}

/**
 * Whether an operator has put the last day of a benefit that the cancel was to end, or has ended, before the cancel; not if the person
 * took it again meanwhile.
 */
function isCutSince(user: User, cancel: Cancel, enrolment: Enrolment, now: Instant): boolean {
  const { benefit, state, closeReason, startsAt } = enrolment
  return (
    closeReason === 'corrected' &&
    state === 'ended' &&
    cancel.at <= now &&
    replacedBy(user, enrolment).some(({ endsAt }) => endsAt === cancel.at) &&
    user.enrolments.every(one => one.benefit !== benefit || one.state === 'void' || one.startsAt <= startsAt)
  )
}

/** Whether the user said no to the benefit after the cancel had withdrawn it: the cancel is undone, the answer stands. */
function wasDeclinedSince(user: User, { id, benefit, endsAt = 0 }: Enrolment): boolean {
  return user.enrolments.some(other => {
    // The end of a declined row is when it was declined; its pick can lie ahead, if a pending change was to bring it.
    const declinedAt = other.benefit === benefit && other.state === 'declined' ? other.endsAt : undefined
    return declinedAt !== undefined && (declinedAt > endsAt || (declinedAt === endsAt && other.id > id))
  })
}

function isOverdue({ actionDueAt }: Enrolment, now: Instant): boolean {
  return actionDueAt !== undefined && actionDueAt <= now
}

const offerClosed = 'the offer is closed'
const closedReason = {
  code: 'benefit_closed',
  text: { en: 'This benefit is no longer offered.', es: 'Este beneficio ya no se ofrece.' },
}
const lapsedReason = {
  code: 'expired',
  text: {
    en: 'What was missing for this benefit did not come in time.',
    es: 'Lo que faltaba para este beneficio no llegó a tiempo.',
  },
}
const endedReason = {
  code: 'cover_ended',
  text: {
    en: 'The cover of this benefit was to end before.',
    es: 'La cobertura de este beneficio debía terminar antes.',
  },
}
const fullReason = {
  code: 'slots_exceeded',
  text: { en: 'There is no free place for this benefit.', es: 'No queda lugar para este beneficio.' },
}
