import type { EnrolmentState } from '@benefit-enrolment/contract'
import type { UserStatus } from './state.ts'

/** Where a user may go from each state (contract §9); docs/states.md draws it. */
export const userTransitions: Readonly<Record<UserStatus, readonly UserStatus[]>> = {
  none: ['prefilled', 'registering', 'active'],
  prefilled: ['none', 'registering', 'active', 'erased'],
  registering: ['none', 'prefilled', 'active', 'erased'],
  active: ['cancelled', 'erased'],
  cancelled: ['active', 'erased'],
  erased: [],
}

/** Where an enrolment may go from each state (contract §9); `new` is before there is a row. */
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

/** Whether a user may move so; staying is always allowed. */
export function userMayMove(from: UserStatus, to: UserStatus): boolean {
  return from === to || userTransitions[from].includes(to)
}

/** Whether an enrolment may move so; staying is always allowed. */
export function enrolmentMayMove(from: EnrolmentState | 'new', to: EnrolmentState): boolean {
  return from === to || enrolmentTransitions[from].includes(to)
}
