import { cancelAccount } from '../../accounts/lifecycle.ts'
import { boundaryAfter } from '../../calendar/calendar.ts'
import { isHeld, isInForce, isLive } from '../../membership/rules/state.ts'
import { displayNameOf } from '../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { parseCancel } from '../views/choices.ts'
import { isFaulty } from '../views/faults.ts'
import { lastDayOf, liveLines } from './cards.ts'
import type { OwnChange } from './change-own.ts'
import { mayComeBack } from './may-come-back.ts'
import { changeAndConfirm } from './outcomes.ts'
import type { Step } from './step.ts'

const DAYS_TO_REINSTATE = 30

/**
 * The names of benefits that a member has chosen and that have not started: a cancel withdraws them at once, whatever
 * its date.
 */
function namesNotBegun({ user, terms, locale }: Visit): readonly string[] {
  return user.enrolments
    .filter(one => isHeld(one) && !isInForce(one))
    .map(({ benefit }) => displayNameOf(terms, user, benefit, locale))
}

/** What a cancel ends, and when; a pending one can be undone. */
export const cancel: Step = {
  show: (visit, typed) => {
    if (!visit.isMember) return { to: 'overview' }
    const { user, now, partner } = visit
    const hasBegun = user.offer?.inForce ?? false
    const effective = typed.posted?.get('effective')
    return {
      view: 'CANCEL',
      page: pageOf(visit),
      benefits: liveLines(visit, hasBegun ? isInForce : isLive),
      notbegun: hasBegun ? namesNotBegun(visit) : [],
      lastday: lastDayOf(visit, boundaryAfter(now, partner.timezone)),
      reinstatedays: mayComeBack(visit) ? DAYS_TO_REINSTATE : undefined,
      effective: effective === 'endofperiod' || effective === 'immediate' ? effective : undefined,
      hasbegun: hasBegun,
      hasplanned: user.swap !== undefined || user.pendingOffer !== undefined,
      pending: user.cancel && { on: lastDayOf(visit, user.cancel.at) },
    }
  },
  post: async (visit, form) => {
    const effective = parseCancel(form)
    if (isFaulty(effective)) return effective
    const change: OwnChange = {
      why: 'cancel',
      form,
      of: ({ status }) => status === 'active' || status === 'cancelled',
      decide: ({ user, now, terms }) => {
        const change = cancelAccount(user, { effective, reason: 'voluntary' }, now, terms())
        return change.user === user ? 'unchanged' : change
      },
    }
    return changeAndConfirm(visit, 'cancelled', change, 'gone')
  },
}
