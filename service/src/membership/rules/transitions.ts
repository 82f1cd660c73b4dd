import type { EnrolmentState } from '@benefit-enrolment/contract'
import type { UserStatus } from './state.ts'

/** The states to which a user may move from each state (contract §9); docs/states.md draws them. */
export const userTransitions: Readonly<Record<UserStatus, readonly UserStatus[]>> = {
  none: ['prefilled', 'registering', 'active'],
  prefilled: ['none', 'registering', 'active', 'erased'],
  registering: ['none', 'prefilled', 'active', 'erased'],
  active: ['cancelled', 'erased'],
  cancelled: ['active', 'erased'],
  erased: [],
}

/**
 * The states to which an enrolment may move from each state (contract §9); `new` means that the row does not exist yet.
 */
export const enrolmentTransitions: Readonly<Record<EnrolmentState | 'new', readonly EnrolmentState[]>> = {
  new: [
    'selected',
    'actionrequired',
    'scheduled',
    'enrolled',
    'endscheduled',
    'ended',
    'declined',
    'rejected',
  ],
  selected: ['actionrequired', 'scheduled', 'enrolled', 'withdrawn', 'declined', 'rejected', 'void'],
  actionrequired: ['scheduled', 'enrolled', 'endscheduled', 'withdrawn', 'declined', 'rejected', 'void'],
  scheduled: ['actionrequired', 'enrolled', 'endscheduled', 'withdrawn', 'declined', 'rejected', 'void'],
  enrolled: ['endscheduled', 'ended', 'void'],
  endscheduled: ['enrolled', 'ended', 'void'],
  ended: ['void'],
  withdrawn: ['void'],
  declined: ['void'],
  rejected: ['void'],
  void: [],
}

/** Whether a user may move from one state to the other; staying is always allowed. */
export function userMayMove(from: UserStatus, to: UserStatus): boolean {
  return from === to || userTransitions[from].includes(to)
}

/** Whether an enrolment may move from one state to the other; staying is always allowed. */
export function enrolmentMayMove(from: EnrolmentState | 'new', to: EnrolmentState): boolean {
  return from === to || enrolmentTransitions[from].includes(to)
}
