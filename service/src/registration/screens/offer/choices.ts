import type { Instant } from '../../../calendar/calendar.ts'
import { isBoundaryLocked, nextBoundary } from '../../../membership/rules/boundary.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import {
  type Enrolment,
  hasPendingCancel,
  heldEnrolment,
  isHeld,
  isPending,
  type User,
} from '../../../membership/rules/state.ts'
import {
  isAvailable,
  judgeOfferAt,
  knownBenefit,
  offerOf,
  openBenefit,
  partnerOffers,
} from '../../../membership/rules/terms.ts'
import { changeOfferOf, undoOfferChangeOf } from '../../../offers/change.ts'
import type { Visit } from '../../session/visit.ts'
import { isMoveCalledOff, planName, undoUntil, visitAfter } from '../../steps/ahead.ts'
import { liveEnrolment, liveLines, localDay, standingLine, startsFrom } from '../../steps/cards.ts'
import type { BenefitLine, IsoDate } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'

/** An offer the person could be on. */
export type OfferChoice = {
  readonly offer: string
  readonly displayname: string
  readonly direction: 'upgrade' | 'downgrade' | 'current'
  readonly effectiveon?: IsoDate
  readonly reasons: readonly string[]
  /** What changes with it, by the names of benefits, and everything that the person would then pay for. */
  readonly difference?: {
    readonly gained: readonly string[]
    readonly lost: readonly string[]
    readonly kept: readonly string[]
    readonly benefits: readonly BenefitLine[]
  }
}

/** The offers that the page shows to a member: the one in force, and whether and when each other can follow it. */
export function offerChoices(visit: Visit): OfferChoice[] {
  const { user, terms, now, locale } = visit
  const current = offerOf(terms, user)
  return partnerOffers(terms).map((one): OfferChoice => {
    const say = sayIn(visit)
    const displayname = one.displayname[locale]
    if (one.offer === current?.offer)
      return { offer: one.offer, displayname, direction: 'current', reasons: [] }
    const isUpgrade = one.rank > (current?.rank ?? 0)
    const at = isUpgrade ? startsFrom(visit) : nextBoundary(user, now, terms)
    const verdict = judgeOfferAt(terms, one, at)
    const isLocked = !isUpgrade && isBoundaryLocked(user, at, { now, terms })
    const isClosed = verdict.admitted && !isAvailable(terms, one, at)
    return {
      offer: one.offer,
      displayname,
      direction: isUpgrade ? 'upgrade' : 'downgrade',
      effectiveon: localDay(visit, at),
      reasons: [
        ...verdict.reasons.map(reason => reason.text[locale]),
        ...(isLocked ? [`${say`Changes for next month are closed`}.`] : []),
        ...(isClosed ? [say`This plan is not offered right now.`] : []),
      ],
    }
  })
}

/** The offers that a member can change to. */
export function openOffers(visit: Visit): OfferChoice[] {
  return offerChoices(visit).filter(
    ({ direction, reasons }) => direction !== 'current' && reasons.length === 0,
  )
}

/**
 * The change that a form or an address asks for, tried out, with the benefits that it brings and the address of its
 * confirmation; `undefined` when it is not open.
 */
export function proposed(visit: Visit, form: URLSearchParams) {
  const { user, terms } = visit
  if (!visit.isMember || hasPendingCancel(user)) return undefined
  const choice = openOffers(visit).find(({ offer }) => offer === form.get('offername'))
  if (!choice) return undefined
  const input = inputFor(choice.offer)
  const changed = changeOfferOf(user, input, visit.now, terms)
  if (isRefusal(changed)) return undefined
  return {
    changed,
    choice,
    gained: changed.gained.flatMap(name => openBenefit(terms, name) ?? []),
  }
}

/** The change in the terms of the API. */
export function inputFor(offername: string) {
  return { offername, action: 'auto', effective: 'auto' } as const
}

/** The address of the confirmation of a change to this offer. */
export function addressOf(offername: string): string {
  return `offer/confirm?${new URLSearchParams({ offername })}`
}

/** The benefits of these names that the person holds, each as one line. */
export function heldLines(visit: Visit, names: readonly string[]): BenefitLine[] {
  return names.flatMap(name => {
    const held = heldEnrolment(visit.user, name)
    return held && knownBenefit(visit.terms, visit.user, name) ? [standingLine(visit, held)] : []
  })
}

/** A change of plan that is pending. */
export type PendingMove = {
  readonly displayname: string
  readonly effectiveon: IsoDate
  /** It will not happen as things are. */
  readonly iscalledoff?: boolean
  /** What the change gives, and what it takes. */
  readonly gained: readonly BenefitLine[]
  readonly lost: readonly BenefitLine[]
  /** What undoing it would do; absent when it can no longer be undone. */
  readonly undo?:
    | {
        readonly undountil?: Instant
        /** What stays after all. */
        readonly restored: readonly BenefitLine[]
        /** Everything that the person then has, of which the total is made. */
        readonly benefits: readonly BenefitLine[]
        /** True when undoing also cancels a pending swap. */
        readonly dropsswap?: boolean
      }
    | undefined
}

/**
 * The pending change of plan with what it gives and takes, and what undoing it restores, as the rules would undo it now;
 * without the latter once they refuse. `undefined` when none is pending.
 */
export function pendingMove(visit: Visit): PendingMove | undefined {
  const { user, now, terms } = visit
  const { pendingOffer: pending, swap } = user
  if (!pending) return undefined
  const undone = undoOfferChangeOf(user, now, terms)
  const after = visitAfter(visit, isRefusal(undone) ? { user: { ...user, pendingOffer: undefined } } : undone)
  const swapped = new Set(swap?.pairs.map(({ remove }) => remove))
  const comesBack = (enrolment: Enrolment) => isHeld(enrolment) && endsLater(enrolment, after.user)
  return {
    displayname: planName(visit, pending.name),
    effectiveon: localDay(visit, pending.at),
    iscalledoff: isMoveCalledOff(visit),
    gained: liveLines(visit, one => isPending(one) && one.pendingBy !== 'swap'),
    lost: liveLines(visit, one => comesBack(one) && !swapped.has(one.benefit)).map(takenLine),
    undo: isRefusal(undone)
      ? undefined
      : {
          ...undoUntil(visit, pending.at),
          restored: liveLines(after, one =>
            user.enrolments.some(was => was.id === one.id && comesBack(was)),
          ).map(({ since: _, ...line }) => line),
          benefits: liveLines(after),
          dropsswap: swap !== undefined && undone.user.swap === undefined,
        },
  }
}

/** Whether a benefit ends later than planned now, or not at all, for the user as they would be. */
function endsLater({ benefit, endsAt }: Enrolment, ahead: User): boolean {
  const then = liveEnrolment(ahead, benefit)
  return endsAt !== undefined && then !== undefined && (then.endsAt ?? Number.POSITIVE_INFINITY) > endsAt
}

/** A benefit that is taken, with its last day; with no days if it would only begin after that one. */
function takenLine({ cost: _, startson, endson, ...line }: BenefitLine): BenefitLine {
  if (startson === undefined) return { ...line, endson }
  return endson !== undefined && startson > endson ? line : { ...line, startson, endson }
}
