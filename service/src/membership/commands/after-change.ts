import type { Instant } from '../../calendar/calendar.ts'
import type { Partner } from '../../partners/partner.ts'
import { projectPendingChanges } from '../rules/apply-due.ts'
import type { Person } from '../rules/person.ts'
import { because } from '../rules/refusal.ts'
import { newUser, type User } from '../rules/state.ts'
import type { Change, ExecutorContext } from './command.ts'
import { type LoadedUser, personOf } from './loaded-user.ts'

/** A change that a command decided on, and the user as read, with everything due applied. */
export type DecidedChange = {
  change: Change
  loaded: LoadedUser | undefined
  current: User | undefined
  now: Instant
}

/** Whether a change is about a user who was not read: a new one, perhaps under the name of an erased one. */
export function isOfNewUser({ change, loaded }: DecidedChange): boolean {
  return loaded?.user.serviceId !== change.user.serviceId
}

/** The user before a change; a new user is still empty then. */
export function beforeOf(decided: DecidedChange): User {
  const { change, current } = decided
  return isOfNewUser(decided) ? nothingYet(change.user) : (current ?? change.user)
}

/** The user after a change, with what is pending projected anew. */
export function withPendingChanges(
  context: Pick<ExecutorContext, 'terms'>,
  partner: Partner,
  decided: DecidedChange,
): User {
  const { change, loaded, now } = decided
  if (change.user.status !== 'active') return change.user
  const person =
    change.documents && 'profile' in change.documents ? (change.documents.profile as Person) : undefined
  const stored = isOfNewUser(decided) ? undefined : loaded
  const terms = context.terms(partner, () => person ?? (stored && personOf(stored, partner, 'profile')))
  return projectPendingChanges(change.user, terms, { user: beforeOf(decided), at: now })
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
function nothingYet(user: User): User {
  const { partnerId, serviceId, userid, createdAt, designations } = user
  const nothing = newUser({ partnerId, serviceId, userid, at: createdAt })
  return designations.length === 0 ? nothing : { ...nothing, designations }
}
