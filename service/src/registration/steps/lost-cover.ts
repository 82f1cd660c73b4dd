import {
  heldEnrolment,
  isHeld,
  isLive,
  isPlanned,
  lastClosed,
  type User,
} from '../../membership/rules/state.ts'
import { knownBenefit, partnerOffer } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { LostCover } from '../views/parts.ts'
import { lastDayOf, liveEnrolment } from './cards.ts'

/**
 * The benefits that a change of a user's details takes away: those that get an end or an earlier end by it, those
 * withdrawn before they began, and those that a planned swap or plan change will no longer bring. Benefits that would end
 * by then anyway, for example by a planned cancel, do not count.
 */
export function lostBetween(before: User, after: User): string[] {
  return before.enrolments.filter(isLive).flatMap(was => {
    const now = after.enrolments.find(({ id }) => id === was.id)
    if (isPlanned(was)) return now && isLive(now) ? [] : [was.benefit]
    if (!now || !isHeld(now)) return [was.benefit]
    const end = now.ownEnd?.at
    const known = Math.min(was.endsAt ?? Number.POSITIVE_INFINITY, was.ownEnd?.at ?? Number.POSITIVE_INFINITY)
    return end !== undefined && end < known ? [was.benefit] : []
  })
}

/** The path where a member reads which benefits a change has cost; it names benefits and nothing personal. */
export function pathAfter(lost: readonly string[]): string {
  if (lost.length === 0) return 'details'
  return `details?${new URLSearchParams(lost.map((name): [string, string] => ['lost', name]))}`
}

/**
 * The lost benefits that a path or a form names, limited to those that the benefit's own rules really end or have
 * ended, so that a made-up address shows nothing untrue.
 */
export function lostIn(visit: Visit, form: URLSearchParams): LostCover[] {
  return [...new Set(form.getAll('lost'))].flatMap((name): LostCover[] => {
    const displayname = knownBenefit(visit.terms, visit.user, name)?.displayname[visit.locale]
    if (displayname !== undefined && isCalledOff(visit, name))
      return [{ name, displayname, how: 'neverstarts' }]
    const row = heldEnrolment(visit.user, name) ?? lastClosed(visit.user, name)
    const reason = row?.closeReason ?? row?.ownEnd?.reason
    if (!row || displayname === undefined || (reason !== 'ineligible' && reason !== 'endsatage')) return []
    const benefit = { name, displayname }
    if (row.state === 'withdrawn') return [{ ...benefit, how: 'neverstarts' }]
    if (row.endsAt === undefined) return []
    return [{ ...benefit, how: isHeld(row) ? 'ends' : 'ended', on: lastDayOf(visit, row.endsAt) }]
  })
}

/** Whether a change that is still planned was to bring this benefit, and will not. */
function isCalledOff({ user, terms }: Visit, name: string): boolean {
  const { swap, pendingOffer } = user
  const comes =
    swap?.pairs.some(({ add }) => add === name) ||
    (pendingOffer !== undefined && partnerOffer(terms, pendingOffer.name)?.fixed.includes(name))
  return comes === true && !liveEnrolment(user, name)
}
