import type { Instant } from '../../calendar/calendar.ts'
import type { AppliedChange } from './apply-due.ts'
import { type Enrolment, hasCover, hasLength, type User } from './state.ts'

/** A time for which a user has an offer, and the catalogue version under which it began. */
export type OfferPeriod = {
  readonly name: string
  readonly version: number
  readonly startsAt: Instant
  /** Its end, which may lie ahead; one at its start: it never came into force. */
  readonly endsAt: Instant | undefined
}

/**
 * The periods that a change begins, ends or dates anew. A user knows only the newest offer, but a month is charged for each
 * one that was in force.
 */
export function offerPeriodsOf({ before, after, at }: AppliedChange): OfferPeriod[] {
  const was = presentPeriod(before)
  const is = presentPeriod(after)
  const isSame = was?.name === is?.name && was?.startsAt === is?.startsAt
  const changed: OfferPeriod[] = []
  if (was && !isSame && was.endsAt !== at) changed.push({ ...was, endsAt: Math.max(at, was.startsAt) })
  if (is && !(isSame && was?.version === is.version && was.endsAt === is.endsAt)) changed.push(is)
  return changed
}

function presentPeriod({ status, offer, cancel, pendingOffer }: User): OfferPeriod | undefined {
  if (status !== 'active' || !offer) return undefined
  const ends = [cancel?.at, pendingOffer?.at].filter(at => at !== undefined)
  const endsAt = ends.length === 0 ? undefined : Math.max(offer.since, Math.min(...ends))
  return { name: offer.name, version: offer.version, startsAt: offer.since, endsAt }
}

/**
 * Whether a change made something else of what was in force before it: a correction, or a membership that began earlier. Such a
 * change may concern months whose statements are final.
 */
export function changesThePast(applied: AppliedChange): boolean {
  const { before, after, at } = applied
  if (
    offerPeriodsOf(applied).some(
      period => isNew(before, period.startsAt) && period.startsAt < at && hasLength(period),
    )
  )
    return true
  const known = new Map(before.enrolments.map(enrolment => [enrolment.id, enrolment]))
  return after.enrolments.some(enrolment => {
    const earlier = known.get(enrolment.id)
    return earlier !== enrolment && coverUntil(enrolment, at) !== (earlier ? coverUntil(earlier, at) : '')
  })
}

function isNew({ offer }: User, startsAt: Instant): boolean {
  return offer?.since !== startsAt
}

/** The part of its cover that lies before an instant, as a text to compare; `""`: none. */
function coverUntil(enrolment: Enrolment, at: Instant): string {
  const { startsAt, endsAt, version } = enrolment
  if (!hasCover(enrolment) || startsAt >= at) return ''
  return `${startsAt} ${Math.min(endsAt ?? at, at)} ${version}`
}
