import { type Act, membershipActs } from './act.ts'
import { recordConsent } from './consent.ts'
import { corrections } from './corrections.ts'
import { erase } from './erase.ts'
import { callSwapOff, swap } from './swap.ts'

/** All changes that an operator can make to a user after seeing the effect, in the order of the page. */
export const acts: readonly Act[] = [
  ...membershipActs,
  swap,
  callSwapOff,
  recordConsent,
  ...corrections,
  erase,
]
