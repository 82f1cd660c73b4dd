import type { Instant } from '../../calendar/calendar.ts'
import type { Designation, User } from './state.ts'

/** The designation in force for a benefit: the newest one that was confirmed. */
export function confirmedDesignation(user: User, benefit: string): Designation | undefined {
  return newestOf(user, benefit, 'confirmed')
}

/** The proposed designation that waits for the person's answer; there is at most one, and it is the newest. */
export function proposedDesignation(user: User, benefit: string): Designation | undefined {
  return newestOf(user, benefit, 'proposed')
}

/** The user with one more version of a designation; a proposal that still waited is dropped. */
export function withDesignation(
  user: User,
  fresh: Pick<Designation, 'benefit' | 'who'> & { readonly status: 'proposed' | 'confirmed'; at: Instant },
): { readonly user: User; readonly designation: Designation } {
  const { benefit, who, status, at } = fresh
  const last = Math.max(0, ...of(user, benefit).map(({ version }) => version))
  const decidedAt = status === 'confirmed' ? at : undefined
  const designation: Designation = { benefit, version: last + 1, status, who, writtenAt: at, decidedAt }
  const waiting = proposedDesignation(user, benefit)
  const free = waiting ? decided(user, waiting, { status: 'dropped', at }) : user
  return { user: { ...free, designations: [...free.designations, designation] }, designation }
}

/** The user after the person confirmed or dropped a proposal; the proposal's content and author do not change. */
export function decided(
  user: User,
  proposal: Designation,
  word: { readonly status: 'confirmed' | 'dropped'; readonly at: Instant },
): User {
  const after: Designation = { ...proposal, status: word.status, decidedAt: word.at }
  return { ...user, designations: user.designations.map(one => (one === proposal ? after : one)) }
}

function of(user: User, benefit: string): readonly Designation[] {
  return user.designations.filter(one => one.benefit === benefit)
}

function newestOf(user: User, benefit: string, status: Designation['status']): Designation | undefined {
  return of(user, benefit)
    .filter(one => one.status === status)
    .sort((a, b) => a.version - b.version)
    .at(-1)
}
