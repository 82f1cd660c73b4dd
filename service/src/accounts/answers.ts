import type { Cancelled, ErasedUser, User as WireUser } from '@benefit-enrolment/contract'
import { formatTimestamp, reinstatableUntil } from '../calendar/calendar.ts'
import { erasedAnswer } from '../membership/commands/key-decisions.ts'
import { insurerStateOf, type OpenLine } from '../membership/records/insurer-lines.ts'
import type { Person } from '../membership/rules/person.ts'
import { isInForce, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'

/** The view of a user with the partner's own facts, which are sealed with the account. */
export function withDetails(
  view: Omit<WireUser, 'moredetails'>,
  { moredetails = {} }: Person = {},
): WireUser {
  return { ...view, moredetails }
}

/** The benefits of a view with what insurers were told of each, by the user's lines, newest first. */
export function withInsurers(
  benefits: WireUser['benefits'],
  lines: readonly OpenLine[],
): WireUser['benefits'] {
  return benefits.map(benefit => {
    const { status, memberId } = insurerStateOf(lines, benefit.name)
    return { ...benefit, insurer: { status, memberid: memberId } }
  })
}

/** The remains of an erased user in the form of the API. */
export function viewErased(user: User): ErasedUser {
  return erasedAnswer(user.userid, user.serviceId, user.erasedAt ?? user.updatedAt)
}

/** The answer of a cancel: when it takes effect, what ends by it, and until when it can be taken back. */
export function viewCancelled(user: User, terms: Terms): Cancelled {
  const at = user.cancel?.at ?? user.updatedAt
  return {
    userid: user.userid,
    serviceid: user.serviceId,
    status: user.status === 'cancelled' ? 'cancelled' : 'active',
    effectiveattimestamp: formatTimestamp(at),
    benefits: user.enrolments
      .filter(
        enrolment =>
          (isInForce(enrolment) && user.cancel !== undefined) ||
          (enrolment.state === 'ended' && enrolment.endsAt === at && enrolment.closeReason === 'cancelled'),
      )
      .map(enrolment => ({
        name: enrolment.benefit,
        endsattimestamp: formatTimestamp(enrolment.endsAt ?? at),
      })),
    reinstatableuntil: formatTimestamp(reinstatableUntil(at, terms.zone)),
  }
}
