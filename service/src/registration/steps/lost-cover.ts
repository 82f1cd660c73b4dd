import { heldEnrolment, isHeld, lastClosed, type User } from '../../membership/rules/state.ts'
import { knownBenefit } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { LostCover } from '../views/parts.ts'
import { lastDayOf } from './cards.ts'

/**
 * The benefits that a change of a user's details takes away: those that got an end by it, or an earlier one, and those
 * that it withdrew before they began. What ends then anyway, as by a planned cancel, is not among them.
 */
export function lostBetween(before: User, after: User): string[] {
  return before.enrolments.filter(isHeld).flatMap(was => {
    const now = after.enrolments.find(({ id }) => id === was.id)
    if (!now || !isHeld(now)) return [was.benefit]
    const end = now.ownEnd?.at
    const known = Math.min(was.endsAt ?? Number.POSITIVE_INFINITY, was.ownEnd?.at ?? Number.POSITIVE_INFINITY)
    return end !== undefined && end < known ? [was.benefit] : []
  })
}

/** Where a member reads what a change has cost them; the path names benefits and nothing personal. */
export function pathAfter(lost: readonly string[]): string {
  if (lost.length === 0) return 'details'
  return `details?${new URLSearchParams(lost.map((name): [string, string] => ['lost', name]))}`
}

/**
 * What is told of the benefits that a path or a form names: only what really ends, or has ended, by the rules of the
 * benefit, so that a made-up address tells nothing untrue.
 */
export function lostIn(visit: Visit, form: URLSearchParams): LostCover[] {
  return [...new Set(form.getAll('lost'))].flatMap((name): LostCover[] => {
    const displayname = knownBenefit(visit.terms, visit.user, name)?.displayname[visit.locale]
    const row = heldEnrolment(visit.user, name) ?? lastClosed(visit.user, name)
    const reason = row?.closeReason ?? row?.ownEnd?.reason
    if (!row || displayname === undefined || (reason !== 'ineligible' && reason !== 'endsatage')) return []
    const told = { name, displayname }
    if (row.state === 'withdrawn') return [{ ...told, how: 'neverstarts' }]
    if (row.endsAt === undefined) return []
    return [{ ...told, how: isHeld(row) ? 'ends' : 'ended', on: lastDayOf(visit, row.endsAt) }]
  })
}
