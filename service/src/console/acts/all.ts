import { type Act, membershipActs } from './act.ts'
import { recordConsent } from './consent.ts'
import { corrections } from './corrections.ts'
import { callSwapOff, swap } from './swap.ts'

/** All that an operator can do to a user after a look at what it would do, in the order of the page. */
export const acts: readonly Act[] = [...membershipActs, swap, callSwapOff, recordConsent, ...corrections]
