import type { PlainDate } from '../calendar/calendar.ts'
import type { Benefit, Worth } from '../catalogue/model.ts'
import type { TrueCover } from '../membership/rules/covers.ts'
import { enrolmentWorth, pricedTerms } from '../membership/rules/family.ts'
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
  readonly today: PlainDate
  /** The member number that the insurer gave for a benefit; `''`: none yet. */
  readonly memberIdOf: (benefit: string) => string
}

/** One cover, or a benefit that was never covered, with the terms under which it is held and those of today. */
type Detailed = {
  readonly subject: Subject
  readonly cover: TrueCover | undefined
  readonly worth: Worth | undefined
  readonly today: Benefit | undefined
}

/** How each detail is read: what lines say besides their dates. */
const details: Readonly<Record<ValueName, (of: Detailed) => string | undefined>> = {
  userid: ({ subject }) => subject.user.userid,
  firstname: ({ subject }) => subject.person.firstname,
  lastname: ({ subject }) => subject.person.lastname,
  dob: ({ subject }) => subject.person.dob,
  gender: ({ subject }) => subject.person.gender,
  email: ({ subject }) => subject.person.email,
  phone: ({ subject }) => subject.person.phone,
  addline1: ({ subject }) => subject.person.address?.addline1,
  addline2: ({ subject }) => subject.person.address?.addline2,
  addline3: ({ subject }) => subject.person.address?.addline3,
  city: ({ subject }) => subject.person.address?.city,
  state: ({ subject }) => subject.person.address?.state ?? subject.person.state,
  zipcode: ({ subject }) => subject.person.address?.zipcode ?? subject.person.zipcode,
  policy: ({ today }) => today?.policy,
  plancode: ({ today }) => today?.plancode,
  offer: ({ cover }) => cover?.enrolment.offer,
  amountcents: ({ worth }) => worth?.amount?.cents.toString(),
  costcents: ({ worth }) => worth?.cost.cents.toString(),
  premiumcents: ({ worth }) => worth?.premium?.cents.toString(),
  partnerid: ({ subject }) => subject.partner.partnerId,
  partnername: ({ subject }) => subject.partner.name,
}

function detailOf(name: ValueName, of: Detailed): string {
  if (name.startsWith(MORE)) return of.subject.person.moredetails?.[name.slice(MORE.length)] ?? ''
  return details[name]?.(of) ?? ''
}
const MORE = 'moredetails.'

function detailed(subject: Subject, benefit: string, cover: TrueCover | undefined): Detailed {
  const { terms } = subject
  // Policy and plan codes are the insurer's numbers of today; what it pays and costs are the terms under which it is held.
  const held = cover && pricedTerms(terms, cover.enrolment)
  const worth = cover && enrolmentWorth(terms, cover.enrolment)
  return { subject, cover, worth, today: terms.today.catalogue.benefits.get(benefit) ?? held }
}

/** What a line says of one cover. */
export type Said = {
  readonly action: LineAction
  readonly benefit: string
  readonly startsOn: PlainDate
  readonly endsOn: PlainDate | undefined
  readonly truth: TrueCover | undefined
}

/** Reads what the lines of one feed say of people. */
export type LineReader = {
  /** The fingerprint of the details that the feed shows of a cover; it depends on nothing else. */
  readonly fingerprint: (subject: Subject, cover: TrueCover) => string
  /** The values of a line that the feed keeps; the number of the line and of the run are added when it is stored. */
  readonly values: (subject: Subject, said: Said) => LineValues
}

/** Opens the reader of a feed: a run reads each value of hundreds of thousands of lines, and only those that the feed has. */
export function openLineReader(feed: Feed): LineReader {
  const names = valuesOf(feed)
  const shown = names.filter(isDetail).sort()
  return {
    fingerprint(subject, cover) {
      const of = detailed(subject, cover.enrolment.benefit, cover)
      const text = JSON.stringify(shown.map(name => [name, detailOf(name, of)]))
      return keyedHash(subject.partner.hashKey, 'insurer_lines.details', text).toString('base64url', 0, 16)
    },
    values(subject, said) {
      const of = detailed(subject, said.benefit, said.truth)
      const own = valuesOfLine(subject, said)
      const values: Record<ValueName, string> = {}
      for (const name of names) values[name] = own[name] ?? detailOf(name, of)
      return values
    },
  }
}

/** What is of the line itself, or the insurer gave. */
function valuesOfLine(subject: Subject, said: Said): LineValues {
  const { action, benefit, startsOn, endsOn, truth } = said
  return {
    serviceid: subject.user.serviceId,
    memberid: subject.memberIdOf(benefit),
    benefit,
    action,
    reason: action === 'void' ? 'corrected' : endsOn === undefined ? '' : (truth?.reason ?? ''),
    startson: startsOn,
    endson: endsOn ?? '',
    effectiveon: effectiveOn({ action, startsOn, endsOn }, subject.today),
  }
}

/** The day from which a line counts: the last day for an end, today for details, else the first day of cover. */
export function effectiveOn(
  { action, startsOn, endsOn }: Pick<Said, 'action' | 'startsOn' | 'endsOn'>,
  today: PlainDate,
): PlainDate {
  if (action === 'end' && endsOn !== undefined) return endsOn
  return action === 'change' ? today : startsOn
}
