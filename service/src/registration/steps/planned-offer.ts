import { isRefusal } from '../../membership/rules/refusal.ts'
import { type Enrolment, isHeld, isPlanned, type User } from '../../membership/rules/state.ts'
import { undoOfferChangeOf } from '../../offers/change.ts'
import type { Visit } from '../session/visit.ts'
import type { OfferChangeView } from '../views/model.ts'
import type { BenefitLine } from '../views/parts.ts'
import { isMoveCalledOff, visitAfter } from './ahead.ts'
import { dayOf, liveEnrolment, liveLines } from './cards.ts'
import { planName, undoUntil } from './describe-done.ts'

/**
 * The planned change of plan with what it gives and takes, and what undoing it restores, as the rules would undo it now;
 * without the latter once they refuse. `undefined` when no change is planned.
 */
export function plannedOffer(visit: Visit): OfferChangeView['pending'] {
  const { user, now, terms } = visit
  const { pendingOffer: pending, swap } = user
  if (!pending) return undefined
  const undone = undoOfferChangeOf(user, now, terms)
  const after = visitAfter(visit, isRefusal(undone) ? { user: { ...user, pendingOffer: undefined } } : undone)
  const swapped = new Set(swap?.pairs.map(({ remove }) => remove))
  const comesBack = (enrolment: Enrolment) => isHeld(enrolment) && endsLater(enrolment, after.user)
  return {
    displayname: planName(visit, pending.name),
    effectiveon: dayOf(visit, pending.at),
    iscalledoff: isMoveCalledOff(visit),
    gained: liveLines(visit, one => isPlanned(one) && one.plannedBy !== 'swap'),
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
