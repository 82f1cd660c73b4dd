import { cancelAccount } from '../../accounts/lifecycle.ts'
import { reinstateAccount } from '../../accounts/reinstate.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import type { Visit } from '../session/visit.ts'

/** Whether the person can have their benefits back after a cancel, made or not, as the rules and the catalogue stand now. */
export function mayComeBack(visit: Visit): boolean {
  const { now, terms } = visit
  const { user } = cancelAccount(visit.user, { effective: 'immediate', reason: 'voluntary' }, now, terms)
  return !isRefusal(reinstateAccount(user, now, terms))
}
