import type { Instant } from '../../calendar/calendar.ts'
import type { HistoryLine } from '../../membership/rules/history.ts'
import { hasPendingCancel, isActive, type User } from '../../membership/rules/state.ts'
import type { PageOutcome } from '../session/store.ts'
import type { CopyContent } from '../views/copy.ts'

/** What a confirmation keeps: what was done, and the copy of what the person agreed to by it. */
export type ConfirmationContent = { readonly made: Made; readonly copy?: CopyContent | undefined }

/** What a change of the page did, in facts that no later change can alter; `at`: when, on the partner's clock. */
export type Made = { readonly at: Instant } & (
  | { readonly what: 'joined' }
  /** How many benefits a member added, or gave what they waited for. */
  | { readonly what: 'added'; readonly count: number }
  /** `benefits`: those that come by the swap. */
  | { readonly what: 'swapped'; readonly benefits: readonly string[] }
  | {
      readonly what: 'changed'
      readonly from: string | undefined
      readonly to: string
      readonly dropsSwap: boolean
    }
  | { readonly what: 'cancelled'; readonly hasDropped: boolean }
  /** `staysDropped`: the change that is undone had itself canceled something planned, which does not come back. */
  | { readonly what: 'undone'; readonly of: 'swap' | 'offer'; readonly staysDropped: boolean }
  | { readonly what: 'kept'; readonly staysDropped: boolean }
  | { readonly what: 'reinstated'; readonly cancelledAt: Instant | undefined }
)

type Moved = { readonly before: User; readonly after: User; readonly at: Instant }

/** What a change did, from the user before and after it. `past`: the history before it, which only undoing needs. */
export function madeBy(outcome: PageOutcome, moved: Moved, past: readonly HistoryLine[]): Made {
  const { before, after, at } = moved
  switch (outcome) {
    case 'enrolled':
      if (before.status !== after.status) return { at, what: 'joined' }
      return { at, what: 'added', count: addedBy(moved) }
    case 'swapped':
      return { at, what: 'swapped', benefits: after.swap?.pairs.flatMap(({ add }) => add ?? []) ?? [] }
    case 'changed': {
      const to = after.pendingOffer?.name ?? after.offer?.name ?? ''
      return { at, what: 'changed', from: before.offer?.name, to, dropsSwap: isGone('swap', moved) }
    }
    case 'cancelled':
      return { at, what: 'cancelled', hasDropped: isGone('swap', moved) || isGone('pendingOffer', moved) }
    case 'undone':
      return { at, ...undoneBy(moved, past) }
  }
}

function undoneBy({ before, after }: Moved, past: readonly HistoryLine[]) {
  if (before.status === 'cancelled' && isActive(after))
    return { what: 'reinstated', cancelledAt: before.cancel?.at } as const
  if (hasPendingCancel(before))
    return {
      what: 'kept',
      staysDropped: hasDropped(past, 'pending cancel', ['swap', 'pending offer']),
    } as const
  if (before.pendingOffer)
    return { what: 'undone', of: 'offer', staysDropped: hasDropped(past, 'pending offer', ['swap']) } as const
  return { what: 'undone', of: 'swap', staysDropped: false } as const
}

function isGone(pending: 'swap' | 'pendingOffer', { before, after }: Moved): boolean {
  return before[pending] !== undefined && after[pending] === undefined
}

/** How many benefits are new, or got the consent or beneficiary that they waited for. */
function addedBy({ before, after }: Moved): number {
  const added = after.enrolments.filter(({ id, state }) => {
    const earlier = before.enrolments.find(one => one.id === id)
    return (
      heldStates.has(state) && (!earlier || (earlier.state === 'actionrequired' && earlier.state !== state))
    )
  })
  return new Set(added.map(({ benefit }) => benefit)).size
}

const heldStates = new Set(['actionrequired', 'scheduled', 'enrolled', 'endscheduled'])

/** Whether the last change of that kind canceled something planned. */
function hasDropped(
  past: readonly HistoryLine[],
  undone: HistoryLine['what'],
  pending: readonly HistoryLine['what'][],
): boolean {
  const asked = past.findLast(({ what, to }) => what === undone && to !== undefined)
  return past.some(({ what, to, at }) => at === asked?.at && to === undefined && pending.includes(what))
}
