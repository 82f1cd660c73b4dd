import { type Instant, lockedFrom } from '../calendar/calendar.ts'
import type { Price } from '../catalogue/model.ts'
import { cutoffHours, isBoundaryLocked, nextBoundary } from '../membership/rules/boundary.ts'
import { isSameSet, openCover, pendingPeople, withCover } from '../membership/rules/cover.ts'
import { withEnrolment } from '../membership/rules/enrolments.ts'
import {
  brokenRules,
  type CoverRule,
  coveredNow,
  enrolmentWorth,
  namedDependants,
  refuseCover,
  refuseUnknownDependants,
} from '../membership/rules/family.ts'
import type { Changed } from '../membership/rules/intents.ts'
import { because, type Refusal, refuse } from '../membership/rules/refusal.ts'
import {
  type Enrolment,
  hasPendingCancel,
  heldEnrolment,
  isInForce,
  type User,
} from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'

/** Who is covered at one side of a change, and what the person pays then. */
export type CoverState = {
  /** `''`: the benefit has no tiers yet. */
  readonly tier: string
  readonly dependants: readonly string[]
  readonly cost: Pick<Price, 'cents' | 'per'>
}

/** A change of whom a benefit covers, made or previewed. */
export type CoverChange = Changed & {
  readonly benefit: string
  /** Now, and from `effectiveAt` on. */
  readonly before: CoverState
  readonly after: CoverState
  readonly effectiveAt: Instant
  /** Where nothing locks it, the instant at which it takes effect. */
  readonly lockedAt: Instant
}

/**
 * Changes whom a benefit covers from the next boundary on, or from its start; it replaces what is pending for the benefit. The people
 * who are covered already, or `undefined` for them, undo what is pending. Refused: an unknown dependant, a benefit that is not held
 * or ends by then, people whom it may not cover, a pending cancel, and any change in the locked hours, which the start of a membership
 * has not.
 */
export function changeCoverOf(
  user: User,
  { name, dependants }: { readonly name: string; readonly dependants: readonly string[] | undefined },
  now: Instant,
  terms: Terms,
): CoverChange | Refusal {
  const fieldOf = (index: number) => `dependants[${index}]`
  const unknown = refuseUnknownDependants(terms, dependants ?? [], fieldOf)
  if (unknown) return unknown
  const held = heldEnrolment(user, name)
  if (!held)
    return refuse('ineligible', [because('name', 'not_held', 'name must be a benefit that the user holds')])
  const benefit = openCover(held, terms)
  if (!benefit) return noFamilyCover(dependants ?? [], fieldOf)
  const present = coveredNow(held).map(({ dependantId }) => dependantId)
  const wanted = dependants ?? present
  const isPresent = isSameSet(wanted, present)
  const { pendingCover: pending } = held
  const boundary = isInForce(held) ? nextBoundary(user, now, terms) : held.startsAt
  // What an import planned has a day of its own.
  const plannedAt = pending ? Math.max(pending.at, held.startsAt) : boundary
  const isPlanned =
    pending &&
    isSameSet(
      wanted,
      pending.people.map(({ dependantId }) => dependantId),
    )
  const at = isPresent || isPlanned ? plannedAt : boundary
  // What waits for an action begins whenever that is done.
  const canLock = held.state !== 'actionrequired' && isBoundaryLocked(user, at, { now: at, terms })
  const named = namedDependants(terms, wanted)
  const planned = {
    ...held,
    pendingCover: {
      at,
      people: named.map(({ dependantid, relationship }) => ({ dependantId: dependantid, relationship })),
    },
  }
  const stay = pendingPeople(planned).map(({ dependantId }) => dependantId)
  const effectiveAt = Math.max(at, now)
  const answer = {
    benefit: name,
    before: coverState(held, terms),
    // Who is covered now keeps an own end before that instant.
    after: coverState(isPresent ? until(held, at) : withCover(until(held, at), stay, at, terms), terms),
    effectiveAt,
    lockedAt: canLock ? lockedFrom(at, cutoffHours(user, terms)) : effectiveAt,
  }
  if (isPresent ? !pending : isPlanned) return { ...answer, user, events: [] }
  if (hasPendingCancel(user)) return refuse('cancel_pending')
  // What is locked is not replaced either.
  const first = Math.min(at, plannedAt)
  if (canLock && lockedFrom(first, cutoffHours(user, terms)) <= now) return refuse('change_locked')
  if (!isPresent) {
    const end = Math.min(held.endsAt ?? NEVER, held.ownEnd?.at ?? NEVER)
    if (end <= at)
      return refuse('ineligible', [
        because('name', 'ends_before', 'name must be a benefit that does not end by then'),
      ])
    const candidates = named
      .filter(({ dependantid }) => stay.includes(dependantid))
      .map(one => ({ ...one, isCovered: present.includes(one.dependantid) }))
    const broken = brokenRules(benefit, candidates, at, terms)
    const refused = refuseCover(broken, id => fieldOf(wanted.indexOf(id)))
    if (refused) return refused
  }
  return {
    ...answer,
    user: withEnrolment(
      { ...user, updatedAt: now },
      isPresent ? { ...held, pendingCover: undefined } : planned,
    ),
    events: [],
  }
}

const NEVER: Instant = Number.POSITIVE_INFINITY

/** The enrolment with the ends by age that come before an instant, or at it. */
function until(enrolment: Enrolment, at: Instant): Enrolment {
  return {
    ...enrolment,
    covered: enrolment.covered?.map(one => (one.end && one.end.at <= at ? { ...one, isOver: true } : one)),
  }
}

function coverState(enrolment: Enrolment, terms: Terms): CoverState {
  const { tier = '', cost: { cents, per } = NOTHING } = enrolmentWorth(terms, enrolment) ?? {}
  return {
    tier,
    dependants: coveredNow(enrolment).map(({ dependantId }) => dependantId),
    cost: { cents, per },
  }
}

const NOTHING = { cents: 0, per: 'month' } as const

function noFamilyCover(ids: readonly string[], fieldOf: (index: number) => string): Refusal {
  const broken = new Map(ids.map(id => [id, 'no_family_cover' satisfies CoverRule] as const))
  return (
    refuseCover(broken, id => fieldOf(ids.indexOf(id))) ??
    refuse('dependant_not_eligible', [
      because('name', 'no_family_cover', 'name must be a benefit that covers dependants'),
    ])
  )
}
