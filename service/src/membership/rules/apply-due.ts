import type { Instant } from '../../calendar/calendar.ts'
import { applyCovers, coverDueAt } from './cover.ts'
import { closed, withEnrolment } from './enrolments.ts'
import { applyCancel, applyOfferChange, applySwap, type Changed } from './intents.ts'
import {
  type Enrolment,
  endsByItself,
  hasPendingCancel,
  isActive,
  isHeld,
  isInForce,
  isLive,
  isPending,
  lapsesAt,
  type Raised,
  raise,
  type User,
} from './state.ts'
import type { Terms } from './terms.ts'

/** One change of a user: the state before and after, the instant, and the events that it raised. */
export type AppliedChange = {
  readonly at: Instant
  readonly before: User
  readonly after: User
  readonly events: readonly Raised[]
}

/** Whether a change let what was prefilled and answered for a registration lapse. */
export function hasLapsed({ before, after }: AppliedChange): boolean {
  return before.entryExpiresAt !== undefined && after.entryExpiresAt === undefined
}

/** The earliest instant at which a change of the user falls due. */
export function dueAt(user: User): Instant | undefined {
  const instants: (Instant | undefined)[] = [user.entryExpiresAt]
  if (isActive(user)) {
    instants.push(user.cancel?.at, user.pendingOffer?.at, user.swap?.at)
    if (user.offer && !user.offer.inForce) instants.push(user.offer.since)
    for (const enrolment of user.enrolments) {
      if (!isHeld(enrolment)) continue
      if (enrolment.state === 'scheduled') instants.push(enrolment.startsAt)
      instants.push(enrolment.ownEnd?.at, lapsesAt(enrolment), coverDueAt(enrolment))
    }
  }
  return instants.reduce((first, at) =>
    at === undefined || (first !== undefined && first <= at) ? first : at,
  )
}

/**
 * Applies every change that is due at or before `now`, in order, each at its own instant; returns [] when nothing
 * is due.
 */
export function applyDueChanges(user: User, now: Instant, terms: Terms): AppliedChange[] {
  const applied: AppliedChange[] = []
  let before = user
  for (;;) {
    const at = dueAt(before)
    if (at === undefined || at > now) return applied
    const changed = applyAt(withoutProjectedRows(before), { at, terms, isProjection: false })
    const started = startProjectedRows(before, { ...changed.user, updatedAt: at })
    const after = projectPendingChanges(started, terms, { user: before, at })
    applied.push({ at, before, after, events: changed.events })
    before = after
  }
}

/**
 * The user with the effect of pending changes: enrolments that they will end get a dated end, and enrolments that they
 * will bring become pending rows. The functions that will apply the changes make this projection, so that it agrees
 * with what will happen. Pending rows of `earlier` that are still planned keep their ids; those that are no longer
 * planned are withdrawn, or rejected when their time had come.
 */
export function projectPendingChanges(user: User, terms: Terms, earlier: { user: User; at: Instant }): User {
  const base = withoutProjectedRows(user)
  const projected = projectionOf(base, terms)
  const past = earlier.user.enrolments.filter(isPending)
  const known = new Set(base.enrolments.map(enrolment => enrolment.id))
  const pending = projected.enrolments
    .filter(enrolment => !known.has(enrolment.id) && isLive(enrolment))
    .map(enrolment => {
      const same = asPending(enrolment, past)
      return same.state === 'enrolled' ? { ...same, state: 'scheduled' as const } : same
    })
  const kept = new Set([...known, ...pending.map(enrolment => enrolment.id)])
  const vanished = past
    .filter(enrolment => !kept.has(enrolment.id))
    .map(enrolment => gone(enrolment, earlier.at))
  return {
    ...base,
    enrolments: [...base.enrolments.map(enrolment => dated(enrolment, projected)), ...pending, ...vanished],
  }
}

/**
 * The user as a change leaves it, a member with what is pending projected anew. The executor stores this, and previews of the API, the
 * page and the console show it.
 */
export function afterChange(
  { user }: { readonly user: User },
  { user: before, now, terms }: { readonly user: User; readonly now: Instant; readonly terms: Terms },
): User {
  return isActive(user) ? projectPendingChanges(user, terms, { user: before, at: now }) : user
}

/** The enrolment with the id and the pick of the row by which it was planned before, if there is one. */
function asPending(enrolment: Enrolment, past: readonly Enrolment[]): Enrolment {
  const pending = past.find(
    one => one.benefit === enrolment.benefit && one.startsAt === enrolment.startsAt && isPending(one),
  )
  return pending ? { ...enrolment, id: pending.id, pickedAt: pending.pickedAt } : enrolment
}

function gone(enrolment: Enrolment, at: Instant): Enrolment {
  return enrolment.pendingBy === 'swap' && enrolment.startsAt <= at
    ? { ...closed(enrolment, at, 'swap failed'), state: 'rejected' }
    : closed(enrolment, at, 'undone')
}

/**
 * The enrolment with the end that lies ahead of it, if there is one, so that it never overlaps with the enrolment that
 * follows it. What is over, or ends by then, has no planned change of cover any more (contract §19).
 */
function dated(enrolment: Enrolment, projected: User): Enrolment {
  const { pendingCover, ownEnd, startsAt } = enrolment
  if (!isLive(enrolment)) return pendingCover ? { ...enrolment, pendingCover: undefined } : enrolment
  const ahead = projected.enrolments.find(candidate => candidate.id === enrolment.id)
  const endsAt =
    ahead && !isLive(ahead) ? ahead.endsAt : isInForce(enrolment) ? enrolment.ownEnd?.at : undefined
  const state = isInForce(enrolment) ? (endsAt === undefined ? 'enrolled' : 'endscheduled') : enrolment.state
  const end = endsAt ?? ownEnd?.at
  if (pendingCover && end !== undefined && end <= Math.max(pendingCover.at, startsAt))
    return { ...enrolment, state, endsAt, pendingCover: undefined }
  return state === enrolment.state && endsAt === enrolment.endsAt
    ? enrolment
    : { ...enrolment, state, endsAt }
}

/** The user as it will be once all pending changes have taken effect. */
function projectionOf(user: User, terms: Terms): User {
  let ahead = user
  for (;;) {
    const pending = [ahead.cancel?.at, ahead.pendingOffer?.at, ahead.swap?.at].filter(at => at !== undefined)
    const at = dueAt(ahead)
    if (at === undefined || at > Math.max(...pending) || !isActive(ahead)) return ahead
    ahead = applyAt(ahead, { at, terms, isProjection: true }).user
  }
}

/** The user without projected rows; `projectPendingChanges` makes them anew. */
export function withoutProjectedRows(user: User): User {
  return user.enrolments.some(isPending)
    ? { ...user, enrolments: user.enrolments.filter(enrolment => !isPending(enrolment)) }
    : user
}

/** Projected rows that have come into force lose their `pendingBy`, and keep the id under which they were projected. */
export function startProjectedRows(before: User, after: User): User {
  return {
    ...after,
    enrolments: after.enrolments.map(enrolment =>
      isPending(enrolment) ? { ...asPending(enrolment, before.enrolments), pendingBy: undefined } : enrolment,
    ),
  }
}

/**
 * The instant at which changes are applied. In a projection (`isProjection`) a missing consent can still be given in time.
 */
export type Moment = { readonly at: Instant; readonly terms: Terms; readonly isProjection: boolean }

/** Applies what is due at one instant, in the order of contract §8: lapse, cancel, offer change, swap, ends, starts, cover. */
export function applyAt(user: User, moment: Moment): Changed {
  const { at, terms, isProjection } = moment
  let changed = user
  const events: Raised[] = []
  const adopt = (result: Changed) => {
    changed = result.user
    events.push(...result.events)
  }
  if (changed.entryExpiresAt !== undefined && changed.entryExpiresAt <= at) changed = lapsed(changed)
  if (hasPendingCancel(changed) && changed.cancel && changed.cancel.at <= at) adopt(applyCancel(changed, at))
  if (changed.pendingOffer && changed.pendingOffer.at <= at) {
    adopt(applyOfferChange(changed, changed.pendingOffer.name, { at, terms }))
  }
  if (changed.swap && changed.swap.at <= at)
    adopt(applySwap(changed, changed.swap.pairs, { at, terms, isProjection }))
  adopt(applyEnds(changed, at))
  adopt(applyStarts(changed, at))
  adopt(applyCovers(changed, at, terms))
  return { user: changed, events }
}

function lapsed(user: User): User {
  return {
    ...user,
    entryExpiresAt: undefined,
    status: user.status === 'prefilled' || user.status === 'registering' ? 'none' : user.status,
  }
}

function applyEnds(user: User, at: Instant): Changed {
  let changed = user
  const events: Raised[] = []
  for (const enrolment of user.enrolments) {
    if (!isLive(enrolment) || !endsByItself(enrolment, at)) continue
    const { benefit, ownEnd } = enrolment
    const hasEnded = ownEnd !== undefined && ownEnd.at <= at
    changed = withEnrolment(changed, closed(enrolment, at, hasEnded ? ownEnd.reason : 'expired'))
    if (isInForce(enrolment)) events.push(raise(changed, 'benefit_enrollment_ended', at, benefit))
    else if (!hasEnded) events.push({ ...raise(changed, 'benefit_declined', at, benefit), reason: 'expired' })
  }
  return { user: changed, events }
}

function applyStarts(user: User, at: Instant): Changed {
  let changed = user
  if (!isActive(user)) return { user, events: [] }
  const begun = user.enrolments.filter(
    enrolment => enrolment.state === 'scheduled' && enrolment.startsAt <= at && isHeld(enrolment),
  )
  // A scheduled enrolment was accepted with everything that it needed; a later catalogue cannot ask for more.
  for (const enrolment of begun) changed = withEnrolment(changed, { ...enrolment, state: 'enrolled' })
  const events: Raised[] = []
  if (changed.offer && !changed.offer.inForce && changed.offer.since <= at) {
    changed = { ...changed, offer: { ...changed.offer, inForce: true } }
    events.push(raise(changed, 'offer_activiation_successful', at))
  }
  for (const { benefit, isSingle } of begun)
    if (isSingle) events.push(raise(changed, 'benefit_enrollment_successful', at, benefit))
  return { user: changed, events }
}
