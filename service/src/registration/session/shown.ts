import { dateAt, type Instant, type PlainDate } from '../../calendar/calendar.ts'
import type { DocumentKind } from '../../membership/records/sealed.ts'
import type { Person } from '../../membership/rules/person.ts'
import { isActive, isLive, type User } from '../../membership/rules/state.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import { answeredPerson, type Draft, detailsOf, draftOf } from './answers.ts'

/** Finds a user's personal data of one kind. */
type DocumentOf = (kind: DocumentKind) => Person | undefined

/** Data that the partner has sent and that has not lapsed. */
export function sentTo(user: User, documentOf: DocumentOf): Person {
  return user.entryExpiresAt === undefined ? {} : (documentOf('prefill') ?? {})
}

/** For a member the confirmed data; for anybody else what the partner sent, overlaid with the person's answers. */
export function personShown(user: User, documentOf: DocumentOf): Person {
  const profile = documentOf('profile')
  if (isActive(user)) return profile ?? {}
  // The data of a former member is known from the earlier membership.
  return answeredPerson({ ...profile, ...sentTo(user, documentOf) }, draftOf(documentOf('draft')))
}

/**
 * A tag of all that a form was made from: the day, the catalogue, the details, the choice, and what a member holds and has planned.
 * So nobody confirms details, benefits, prices or dates that they were never shown.
 */
export function shownTag(
  shown: {
    readonly partner: Partner
    readonly user: User
    readonly terms: Terms
    /** Today in the partner's zone; the dates on a view follow from it. */
    readonly today: PlainDate
  },
  { person, draft }: { readonly person: Person; readonly draft: Draft },
): string {
  const { partner, user, terms, today } = shown
  const choice = [draft.offer ?? null, draft.picks ?? null]
  const text = JSON.stringify([detailsOf(person), choice, terms.today.version, today, standingOf(user)])
  return keyedHash(partner.hashKey, 'page_shown', user.partnerId, user.serviceId, text)
    .toString('hex')
    .slice(0, 12)
}

/** The tag that a form would have if its view were made now, from what a command decides on. */
export function tagNow(
  partner: Partner,
  own: {
    readonly user: User
    readonly person: DocumentOf
    readonly now: Instant
    readonly terms: (person: Person) => Terms
  },
): string {
  const person = personShown(own.user, own.person)
  const today = dateAt(own.now, partner.timezone)
  const draft = draftOf(own.person('draft'))
  return shownTag({ partner, user: own.user, terms: own.terms(person), today }, { person, draft })
}

/**
 * What of a user a confirmation depends on, as a text to compare. Naming a beneficiary leaves it as it is: the confirmation
 * lists each benefit with its present state.
 */
export function standingText({ status, offer, pendingOffer, swap, cancel, enrolments }: User): string {
  const held = enrolments.filter(isLive).map(({ benefit, endsAt, pendingBy }) => [benefit, endsAt, pendingBy])
  const planned = [pendingOffer, swap, cancel?.at]
  return JSON.stringify([status, offer?.name, offer?.inForce, planned, held.map(String).sort()])
}

/** What a member holds and has planned, without what changes while they look on, such as times of activity. */
function standingOf(user: User): unknown {
  if (!isActive(user)) return null
  const { offer, pendingOffer, swap, cancel, enrolments } = user
  const held = enrolments
    .filter(isLive)
    .map(({ benefit, state, startsAt, endsAt }) => [benefit, state, startsAt, endsAt ?? null])
  return [offer?.name, offer?.since, offer?.inForce, pendingOffer, swap, cancel?.at, held.map(String).sort()]
}
