import type { Client, ListedUser } from './generated.ts'
import type { CallOptions } from './options.ts'

/**
 * Starts a walk over your users: all of them, or those in a state, or those that changed at an instant or later.
 */
export type EachUser = (
  where?: { changedafter?: string; status?: ListedUser['status'] },
  options?: Omit<CallOptions, 'idempotencyKey'>,
) => AsyncIterable<ListedUser>

/** Makes the walk of a client over its users, which reads a page when it is needed. */
export function eachUserOf(client: Pick<Client, 'listUsers'>): EachUser {
  return async function* walk(where = {}, options = {}) {
    let after: string | null | undefined
    while (after !== null) {
      const page = await client.listUsers({ ...where, ...(after === undefined ? {} : { after }) }, options)
      yield* page.users
      after = page.next
    }
  }
}
