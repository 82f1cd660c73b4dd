import type { Instant } from '../../calendar/calendar.ts'
import type { Designation, User } from './state.ts'

/** The designation in force for a benefit: the newest one. */
export function designationOf(user: User, benefit: string): Designation | undefined {
  return user.designations
    .filter(one => one.benefit === benefit)
    .sort((a, b) => a.version - b.version)
    .at(-1)
}

/** The user with one more version of a designation. */
export function withDesignation(
  user: User,
  { benefit, who, at }: Pick<Designation, 'benefit' | 'who'> & { readonly at: Instant },
): { readonly user: User; readonly designation: Designation } {
  const version = (designationOf(user, benefit)?.version ?? 0) + 1
  const designation: Designation = { benefit, version, who, writtenAt: at }
  return { user: { ...user, designations: [...user.designations, designation] }, designation }
}
