import type { Instant } from '../../calendar/calendar.ts'
import { inSteps, inTurn, type LongTurn } from '../../http/shedding/long-reads.ts'
import type { Partner } from '../../partners/partner.ts'
import { NIL_UUID } from '../../vault/uuid.ts'
import type { ExecutorContext } from '../command.ts'
import { applyDueChanges } from '../rules/apply-due.ts'
import { isKnown, type User, type UserStatus, versionsOf } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'
import { loadClockOffsets, loadedUserOf, loadUserPage, personOf } from './load.ts'

/** Which users to walk over; without filters all whom the partner can see. */
type Walk = {
  /** The last service id of the page before. */
  readonly after: string | undefined
  readonly status: UserStatus | undefined
  readonly changedSince: Instant | undefined
  readonly turn: LongTurn
}

/** Users in order of their service ids, as they are at one instant, and whether more follow. */
export type UserPage = { readonly users: readonly User[]; readonly terms: Terms; readonly isLast: boolean }

/** Reads pages of a partner's users with all that is due applied, without writing it. */
export type UserWalk = (partner: Partner, walk: Walk) => Promise<UserPage>

const PAGE = 500
/**
 * A change carries the instant at which it was decided, and is committed within the two seconds for which it waits for
 * locks. A walk in between missed it; the next walk looks back two seconds.
 */
const COMMITTED_WITHIN_MS = 2000

/** Opens the walk over users. */
export function openUserWalk(
  context: Pick<ExecutorContext, 'database' | 'clock' | 'sandbox' | 'prepareTerms' | 'terms'>,
): UserWalk {
  const { database, clock, sandbox } = context
  return async (partner, { after = NIL_UUID, status, changedSince, turn }) => {
    const { partnerId } = partner
    const offsets = sandbox ? await loadClockOffsets(database, [partner]) : undefined
    const clockOffsetMs = offsets?.get(partnerId) ?? partner.clockOffsetMs
    const now = clock.now({ clockOffsetMs })
    const since = changedSince === undefined ? undefined : changedSince - COMMITTED_WITHIN_MS
    const users: User[] = []
    for (let last = after; ; ) {
      const query = { partnerId, after: last, limit: PAGE + 1, status, since, now }
      const rows = await inTurn(turn, partnerId, () => loadUserPage(database, query))
      const found = rows.map(loadedUserOf)
      await context.prepareTerms([...new Set(found.flatMap(({ user }) => versionsOf(user)))])
      await inSteps(turn, partnerId, {
        rows: found,
        make(loaded) {
          // The documents of a user are loaded only where a change is due.
          const terms = context.terms(partner, () => personOf(loaded, partner, 'profile'))
          const user = applyDueChanges(loaded.user, now, terms).at(-1)?.after ?? loaded.user
          const isWanted = status === undefined ? isKnown(user) : user.status === status
          if (isWanted && (since === undefined || user.updatedAt >= since)) users.push(user)
        },
      })
      const terms = context.terms(partner, () => undefined)
      if (users.length > PAGE) return { users: users.slice(0, PAGE), terms, isLast: false }
      const end = rows.at(-1)
      if (!end || rows.length <= PAGE) return { users, terms, isLast: true }
      last = end.service_id
    }
  }
}
