import type { Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Change, ExecutorContext } from '../command.ts'
import { type LoadedUser, personOf } from '../reading/loaded-user.ts'
import { projectPendingChanges } from '../rules/apply-due.ts'
import type { Person } from '../rules/person.ts'
import { because } from '../rules/refusal.ts'
import { newUser, type User } from '../rules/state.ts'

/** A change that a command decided on, and the user that it changes. */
export type DecidedChange = {
  readonly change: Change
  /** The user as read; `undefined` for a new one, perhaps under the name of an erased one. */
  readonly own: LoadedUser | undefined
  /** The user before the change, with everything due applied; a new user is still empty then. */
  readonly before: User
  readonly now: Instant
}

/** The user after a change, with what is pending projected anew. */
export function withPendingChanges(
  context: Pick<ExecutorContext, 'terms'>,
  partner: Partner,
  { change, own, before, now }: DecidedChange,
): User {
  if (change.user.status !== 'active') return change.user
  const person =
    change.documents && 'profile' in change.documents ? (change.documents.profile as Person) : undefined
  const terms = context.terms(partner, () => person ?? (own && personOf(own, partner, 'profile')))
  return projectPendingChanges(change.user, terms, { user: before, at: now })
}

/**
 * Every enrolment of a user is read with the user, so a partner that swaps and undoes without end would make its own
 * requests, and with them the waiting of others, ever longer. No life comes near this number.
 */
const MOST_ENROLMENTS = 1000

/** Why a change beyond that number is refused. */
export const tooManyEnrolments = because(
  'userid',
  'too_many',
  `userid has ${MOST_ENROLMENTS} enrollments, past and present, the most that a user can have`,
)

/** Whether a change would leave a user with more enrolments than anybody needs. */
export function growsTooLarge(after: User, current: User | undefined): boolean {
  const { length } = after.enrolments
  return length > MOST_ENROLMENTS && length > (current?.enrolments.length ?? 0)
}

/** A new user before its first change. */
export function nothingYet(user: User): User {
  const { partnerId, serviceId, userid, createdAt, designations } = user
  const nothing = newUser({ partnerId, serviceId, userid, at: createdAt })
  return designations.length === 0 ? nothing : { ...nothing, designations }
}
