import { reinstateAccount } from '../../accounts/reinstate.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { isActive, type User } from '../../membership/rules/state.ts'
import { isAnybody, type OwnChange } from './change-own.ts'
import { changeAndConfirm } from './outcomes.ts'
import type { Step } from './step.ts'

/** Takes a cancel back. Refused by the rules: shows `from` again. `as shown`: also refuses a form that is out of date. */
export function takingBack(from: string, isToDo: (user: User) => boolean, how?: 'as shown'): Step {
  const decide: OwnChange['decide'] = ({ user, now, terms }) => {
    if (!isToDo(user)) return 'unchanged'
    const change = reinstateAccount(user, now, terms())
    // A former member who has begun a new registration gives it up by coming back.
    return isRefusal(change) || isActive(user) ? change : { ...change, documents: { draft: null } }
  }
  return {
    show: () => ({ to: from }),
    post: (visit, form) => {
      const change: OwnChange = { why: 'reinstate', of: isAnybody, decide, ...(how ? { form } : {}) }
      return changeAndConfirm(visit, 'undone', change, 'conflict')
    },
  }
}
