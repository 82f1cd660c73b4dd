import { dateAt, type Instant, type PlainDate } from '../../calendar/calendar.ts'
import type { DocumentKind } from '../../membership/records/sealed.ts'
import type { Dependant } from '../../membership/rules/dependant.ts'
import { missingForAccount, type Person, type PersonAddress } from '../../membership/rules/person.ts'
import { type Enrolment, isActive, isLive, type User } from '../../membership/rules/state.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import type { Partner } from '../../partners/partner.ts'
import { keyedHash } from '../../vault/hash.ts'
import { detailsGroups } from '../views/details.ts'
import type { CleanDetails, Details, DetailsGroup } from '../views/parts.ts'

/** The person's answer to one group of details, and what the partner had sent for that group by then. */
type DraftAnswer = { readonly given: Person; readonly over: string }

/** The person's answers so far; kept sealed, and deleted at enrolment. */
export type Draft = {
  readonly answers: Partial<Record<DetailsGroup, DraftAnswer>>
  readonly offer?: string
  readonly picks?: readonly string[]
  /** The benefits that were ticked when the person left them to name somebody; they are no answer yet. */
  readonly ticked?: readonly string[]
  /** The people whom benefits may cover; those of a member are part of the account's data. */
  readonly dependants?: readonly Dependant[]
  /** Whom each benefit is to cover beside the person, by its name: ids of people. */
  readonly covered?: Readonly<Record<string, readonly string[]>>
}

/** A draft without answers. */
const blankDraft: Draft = { answers: {} }

/** The draft of a document, or a blank one. */
export function draftOf(document: unknown): Draft {
  return (document as Draft | undefined) ?? blankDraft
}

/** The person's data as the page shows it: what the partner sent, overlaid with the person's answers. */
function answeredPerson(sent: Person, draft: Draft): Person {
  const { answers, dependants = sent.dependants } = draft
  const answered = detailsGroups.reduce<Person>((person, group) => {
    const answer = answers[group]
    return answer ? withGroup(person, answer.given, group) : person
  }, sent)
  return dependants ? { ...answered, dependants } : answered
}

/** The draft with a new answer for one group. */
export function withAnswer(
  draft: Draft,
  answer: { group: DetailsGroup; clean: CleanDetails; sent: Person },
): Draft {
  const { group, clean, sent } = answer
  return {
    ...draft,
    answers: { ...draft.answers, [group]: { given: personOfClean(clean), over: textOf(sent, group) } },
  }
}

/** The person with one group replaced by that of another; what the page does not ask for stays. */
export function withGroup(person: Person, from: Person, group: DetailsGroup): Person {
  const kept = Object.entries(person).filter(([field]) => !fields[group].some(own => own === field))
  return { ...Object.fromEntries(kept), ...groupOnly(from, group) }
}

/** The groups in which the partner has since sent data that differs from what the person saw when answering. */
export function newerInDraft(sent: Person, draft: Draft): DetailsGroup[] {
  return detailsGroups.filter(group => {
    const answer = draft.answers[group]
    if (!answer || isEmpty(sent, group)) return false
    const text = textOf(sent, group)
    return text !== answer.over && text !== textOf(answer.given, group)
  })
}

/**
 * The groups in which the partner has sent something that differs from the confirmed data; fields that it left out do
 * not count.
 */
export function newerThanConfirmed(sent: Person, confirmed: Person): DetailsGroup[] {
  return detailsGroups.filter(
    group =>
      !isEmpty(sent, group) && textOf(laidOver(confirmed, sent, group), group) !== textOf(confirmed, group),
  )
}

/** One group of the sent data laid over the confirmed data, for the person to see and accept. */
export function laidOver(confirmed: Person, sent: Person, group: DetailsGroup): Person {
  return { ...confirmed, ...groupOnly(sent, group) }
}

/** The groups that have a value. */
export function groupsIn(person: Person): DetailsGroup[] {
  return detailsGroups.filter(group => !isEmpty(person, group))
}

/** The groups that must be answered before an account can be made. */
export function missingGroups(person: Person): DetailsGroup[] {
  const missing = missingForAccount(person)
  return detailsGroups.filter(group => missing.some(field => fields[group].includes(field)))
}

/** The details as the views show them: state and ZIP code appear only in the address. */
export function detailsOf(person: Person): Details {
  const { firstname, lastname, dob, email, phone, gender } = person
  const address: PersonAddress = person.address ?? {}
  const state = person.state ?? address.state ?? ''
  const zipcode = person.zipcode ?? address.zipcode ?? ''
  const { addline1 = '', addline2 = '', addline3 = '', city = '' } = address
  const isKnown = [addline1, addline2, addline3, city, state, zipcode].some(part => part !== '')
  const known = { firstname, lastname, dob, email, phone, gender }
  return {
    ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    ...(isKnown ? { address: { addline1, addline2, addline3, city, state, zipcode } } : {}),
  }
}

/** Validated details as they are kept: `''` means not given. */
export function personOfClean(clean: CleanDetails): Person {
  const { address, ...plain } = clean
  const kept = Object.entries(plain).filter(([, value]) => value !== undefined && value !== '')
  const lines = Object.entries(address ?? {}).filter(([, value]) => value !== '')
  return {
    ...Object.fromEntries(kept),
    ...(lines.length > 0 ? { address: Object.fromEntries(lines) as PersonAddress } : {}),
  }
}

const fields: Readonly<Record<DetailsGroup, readonly (keyof Person)[]>> = {
  name: ['firstname', 'lastname'],
  dob: ['dob'],
  contact: ['email', 'phone'],
  address: ['address', 'state', 'zipcode'],
  gender: ['gender'],
}

/** What is known of one group. */
function groupOnly(person: Person, group: DetailsGroup): Person {
  return Object.fromEntries(
    fields[group].flatMap(field => (person[field] === undefined ? [] : [[field, person[field]]])),
  )
}

function isEmpty(person: Person, group: DetailsGroup): boolean {
  return fields[group].every(field => person[field] === undefined)
}

/** A group's values in a fixed order, for comparison. */
function textOf(person: Person, group: DetailsGroup): string {
  const { address, ...plain } = detailsOf(person)
  return group === 'address'
    ? JSON.stringify(address ?? null)
    : JSON.stringify(fields[group].map(field => (field in plain ? plain[field as keyof typeof plain] : null)))
}

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
  const family = person.dependants ? [person.dependants, draft.covered ?? null] : []
  const all = [detailsOf(person), choice, terms.today.version, today, standingOf(user), ...family]
  const text = JSON.stringify(all)
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
  const held = enrolments
    .filter(isLive)
    .map(one => [one.benefit, one.endsAt, one.pendingBy, ...familyText(one)])
  const planned = [pendingOffer, swap, cancel?.at]
  return JSON.stringify([status, offer?.name, offer?.inForce, planned, held.map(String).sort()])
}

/** What a member holds and has planned, without what changes while they look on, such as times of activity. */
function standingOf(user: User): unknown {
  if (!isActive(user)) return null
  const { offer, pendingOffer, swap, cancel, enrolments } = user
  const held = enrolments
    .filter(isLive)
    .map(one => [one.benefit, one.state, one.startsAt, one.endsAt ?? null, ...familyText(one)])
  return [offer?.name, offer?.since, offer?.inForce, pendingOffer, swap, cancel?.at, held.map(String).sort()]
}

/** Whom an enrolment covers, and will cover; nothing where it is and will be the member alone. */
function familyText({ covered, pendingCover }: Enrolment): string[] {
  return covered || pendingCover ? [JSON.stringify([covered, pendingCover])] : []
}
