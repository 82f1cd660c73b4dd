import { type Refusal, refuse } from './refusal.ts'
import type { User } from './state.ts'

/** A user as it was read, with what was read beside it. */
type FoundAccount = { readonly user: User }

/** A user with an account, canceled or not. Refuses users without one, and `undefined`. */
export function accountOf<T extends FoundAccount>(found: T | undefined): T | Refusal {
  return found?.user.status === 'active' || found?.user.status === 'cancelled'
    ? found
    : refuse('user_not_found')
}

/** A user with an account. Refuses users without one, and an account whose cancel is in effect. */
export function activeAccountOf<T extends FoundAccount>(found: T | undefined): T | Refusal {
  return found?.user.status === 'cancelled' ? refuse('user_cancelled') : accountOf(found)
}
