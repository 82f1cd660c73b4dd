import { dateAt, type Instant, type PlainDate } from '../calendar/calendar.ts'
import type { TrueCover } from '../membership/rules/covers.ts'
import type { LineAction } from '../membership/rules/insurer-lines.ts'
import type { Person } from '../membership/rules/person.ts'
import type { User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash } from '../vault/hash.ts'
import { type Feed, isDetail, type LineValues, type ValueName, valuesOf } from './feed.ts'

/** A person of whom an insurer is told, as of one instant. */
export type Subject = {
  readonly partner: Partner
  readonly user: User
  readonly person: Person
  readonly terms: Terms
  readonly now: Instant
  /** The member number that the insurer gave for a benefit; `''`: none yet. */
  readonly memberIdOf: (benefit: string) => string
}

/** The details of one cover: what its lines say besides their dates. */
type Details = Readonly<Record<ValueName, string>>

/** All details of a person and a benefit; `cover` is absent for one that never should have been. */
function detailsOf(subject: Subject, benefit: string, cover: TrueCover | undefined): Details {
  const { partner, user, person, terms } = subject
  const { address = {} } = person
  const held = cover && terms.version(cover.enrolment.version).benefits.get(benefit)
  // Policy and plan codes are the insurer's numbers of today; what it pays and costs are the terms under which it is held.
  const today = terms.today.catalogue.benefits.get(benefit) ?? held
  const more = Object.entries(person.moredetails ?? {}).map(
    ([name, value]) => [`moredetails.${name}`, value] as const,
  )
  return {
    ...Object.fromEntries(more),
    userid: user.userid,
    firstname: person.firstname ?? '',
    lastname: person.lastname ?? '',
    dob: person.dob ?? '',
    gender: person.gender ?? '',
    email: person.email ?? '',
    phone: person.phone ?? '',
    addline1: address.addline1 ?? '',
    addline2: address.addline2 ?? '',
    addline3: address.addline3 ?? '',
    city: address.city ?? '',
    state: address.state ?? person.state ?? '',
    zipcode: address.zipcode ?? person.zipcode ?? '',
    policy: today?.policy ?? '',
    plancode: today?.plancode ?? '',
    offer: cover?.enrolment.offer ?? '',
    amountcents: textOf(held?.amount?.cents),
    costcents: textOf(held?.cost.cents),
    premiumcents: textOf(held?.premium?.cents),
    partnerid: partner.partnerId,
    partnername: partner.name,
  }
}

/** The fingerprint of the details that a feed shows of a cover; it depends on nothing else. */
export function fingerprint(feed: Feed, subject: Subject, cover: TrueCover): string {
  const details = detailsOf(subject, cover.enrolment.benefit, cover)
  const shown = valuesOf(feed)
    .filter(isDetail)
    .sort()
    .map(name => [name, details[name] ?? ''])
  const hash = keyedHash(subject.partner.hashKey, 'insurer_lines.details', JSON.stringify(shown))
  return hash.subarray(0, 16).toString('base64url')
}

/** What a line says of one cover. */
export type Said = {
  readonly action: LineAction
  readonly benefit: string
  readonly startsOn: PlainDate
  readonly endsOn: PlainDate | undefined
  readonly truth: TrueCover | undefined
}

/** The values of a line that a feed keeps; the number of the line and of the run are added when it is stored. */
export function valuesOfLine(feed: Feed, subject: Subject, said: Said): LineValues {
  const { action, benefit, startsOn, endsOn, truth } = said
  const today = dateAt(subject.now, subject.partner.timezone)
  const all: LineValues = {
    ...detailsOf(subject, benefit, truth),
    serviceid: subject.user.serviceId,
    memberid: subject.memberIdOf(benefit),
    benefit,
    action,
    reason: action === 'void' ? 'corrected' : endsOn === undefined ? '' : (truth?.reason ?? ''),
    startson: startsOn,
    endson: endsOn ?? '',
    effectiveon: effectiveOn({ action, startsOn, endsOn }, today),
  }
  return Object.fromEntries(valuesOf(feed).map(name => [name, all[name] ?? '']))
}

/** The day from which a line counts: the last day for an end, today for details, else the first day of cover. */
export function effectiveOn(
  { action, startsOn, endsOn }: Pick<Said, 'action' | 'startsOn' | 'endsOn'>,
  today: PlainDate,
): PlainDate {
  if (action === 'end' && endsOn !== undefined) return endsOn
  return action === 'change' ? today : startsOn
}

function textOf(cents: number | undefined): string {
  return cents === undefined ? '' : String(cents)
}
