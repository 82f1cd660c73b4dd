import { textIn } from '../../../catalogue/model.ts'
import { html, type Slot } from '../../../http/html.ts'
import {
  heldEnrolment,
  isHeld,
  isLive,
  isPending,
  lastClosed,
  type User,
} from '../../../membership/rules/state.ts'
import { knownBenefit, partnerOffer } from '../../../membership/rules/terms.ts'
import type { Visit } from '../../session/visit.ts'
import { lastDayOf, liveEnrolment } from '../../steps/cards.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import type { IsoDate } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/** A benefit that a change of a member's details took away. */
type LostCover = { readonly name: string; readonly displayname: string } & (
  | { readonly how: 'neverstarts' }
  /** The last day of cover, in the future or the past. */
  | { readonly how: 'ends' | 'ended'; readonly on: IsoDate }
)

/**
 * The benefits that a change of a user's details takes away: those that get an end or an earlier end by it, those
 * withdrawn before they began, and those that a pending swap or plan change will no longer bring. Benefits that would end
 * by then anyway, for example by a pending cancel, do not count.
 */
export function lostBetween(before: User, after: User): string[] {
  return before.enrolments.filter(isLive).flatMap(was => {
    const now = after.enrolments.find(({ id }) => id === was.id)
    if (isPending(was)) return now && isLive(now) ? [] : [was.benefit]
    if (!now || !isHeld(now)) return [was.benefit]
    const end = now.ownEnd?.at
    const known = Math.min(was.endsAt ?? Number.POSITIVE_INFINITY, was.ownEnd?.at ?? Number.POSITIVE_INFINITY)
    return end !== undefined && end < known ? [was.benefit] : []
  })
}

/** The path where a member reads which benefits a change has cost; it names benefits and nothing personal. */
export function pathAfter(lost: readonly string[]): string {
  if (lost.length === 0) return 'details?saved=yes'
  return `details?${new URLSearchParams(lost.map((name): [string, string] => ['lost', name]))}`
}

/**
 * The lost benefits that a path or a form names, limited to those that the benefit's own rules really end or have
 * ended, so that a made-up address shows nothing untrue.
 */
export function lostIn(visit: Visit, form: URLSearchParams): LostCover[] {
  return [...new Set(form.getAll('lost'))].flatMap((name): LostCover[] => {
    const known = knownBenefit(visit.terms, visit.user, name)
    const displayname = known && textIn(known.displayname, visit.locale)
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

/** Tells a member that their details are saved, and which benefits they lose; empty when they lose none. */
export function lostNotice(page: Page, lost: readonly LostCover[]): Slot {
  const say = sayIn(page)
  const [first, ...others] = lost.map(cover =>
    cover.how === 'neverstarts'
      ? say`Because of this change, ${cover.displayname} will not start.`
      : cover.how === 'ends'
        ? say`Because of this change, ${cover.displayname} ends on ${dayText(page, cover.on)}.`
        : say`Because of this change, ${cover.displayname} ended on ${dayText(page, cover.on)}.`,
  )
  if (first === undefined) return null
  return html`<div class="notice info" role="status">${icon('info')}<div><p>${say`Your details are saved.`} ${first}</p>${others.map(
    sentence => html`<p>${sentence}</p>`,
  )}</div></div>`
}

/** The benefits of that notice as form fields, so that the view says the same in another language. */
export function lostFields(lost: readonly LostCover[]): Slot {
  return lost.map(({ name }) => html`<input type="hidden" name="lost" value="${name}">`)
}
