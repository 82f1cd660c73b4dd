import type { PlainDate } from '../calendar/calendar.ts'
import type { Benefit } from '../catalogue/model.ts'
import type { TierWorth } from '../catalogue/tiers.ts'
import type { TrueCover } from '../membership/rules/covers.ts'
import type { Dependant } from '../membership/rules/dependant.ts'
import { enrolmentWorth, pricedTerms } from '../membership/rules/family.ts'
import type { LineAction, WorthStep } from '../membership/rules/insurer-lines.ts'
import type { Person } from '../membership/rules/person.ts'
import type { User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import type { Partner } from '../partners/partner.ts'
import { keyedHash } from '../vault/hash.ts'
import { type Feed, isDetail, type LineValues, TIER_VALUES, type ValueName, valuesOf } from './feed.ts'

/** A member of whom an insurer is told, and of those whom their benefits cover besides, as of one instant. */
export type Subject = {
  readonly partner: Partner
  readonly user: User
  readonly person: Person
  readonly terms: Terms
  readonly today: PlainDate
  /** The member number that the insurer gave for a benefit; `''`: none yet. */
  readonly memberIdOf: (benefit: string) => string
  /** The dependant whom the lines are about; absent: they are about the member. */
  readonly dependant?: (Pick<Dependant, 'dependantid' | 'relationship'> & Partial<Dependant>) | undefined
}

/** One cover, or a benefit that was never covered, with the terms under which it is held and those of today. */
type Detailed = {
  readonly subject: Subject
  readonly cover: TrueCover | undefined
  readonly worth: TierWorth | undefined
  readonly today: Benefit | undefined
}

/** How each detail is read: what lines say besides their dates. */
const details: Readonly<Record<ValueName, (of: Detailed) => string | undefined>> = {
  userid: ({ subject }) => subject.user.userid,
  firstname: ({ subject }) => named(subject).firstname,
  lastname: ({ subject }) => named(subject).lastname,
  dob: ({ subject }) => named(subject).dob,
  gender: ({ subject }) => named(subject).gender,
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
  tier: ({ worth }) => worth?.tier,
  amountcents: of => ofMember(of)?.amount?.cents.toString(),
  costcents: of => ofMember(of)?.cost.cents.toString(),
  premiumcents: of => ofMember(of)?.premium?.cents.toString(),
  partnerid: ({ subject }) => subject.partner.partnerId,
  partnername: ({ subject }) => subject.partner.name,
  who: ({ subject }) => subject.dependant?.relationship ?? 'member',
  dependantid: ({ subject }) => subject.dependant?.dependantid,
}

/** The person whose name, birth date and gender a line has. */
function named({ person, dependant }: Subject): Pick<Person, 'firstname' | 'lastname' | 'dob' | 'gender'> {
  return dependant ?? person
}

/** A family pays once: what its cover costs and pays stands on the line of the member. */
function ofMember({ subject, worth }: Detailed): TierWorth | undefined {
  return subject.dependant ? undefined : worth
}

function detailOf(name: ValueName, of: Detailed): string {
  if (name.startsWith(MORE)) return moreOf(of.subject.person, name.slice(MORE.length))
  return details[name]?.(of) ?? ''
}
const MORE = 'moredetails.'

/** A name may also be one that every object inherits, such as `constructor`. */
function moreOf({ moredetails = {} }: Person, name: string): string {
  return (Object.hasOwn(moredetails, name) ? moredetails[name] : undefined) ?? ''
}

function detailed(
  subject: Subject,
  { benefit, truth: cover, step }: Pick<Said, 'benefit' | 'truth' | 'step'>,
): Detailed {
  const { terms } = subject
  // Policy and plan codes are the insurer's numbers of today; what it pays and costs are the terms under which it is held.
  const held = cover && pricedTerms(terms, cover.enrolment)
  const worth = step ? step.worth : cover && enrolmentWorth(terms, cover.enrolment)
  return { subject, cover, worth, today: terms.today.catalogue.benefits.get(benefit) ?? held }
}

/** What a line says of one cover. */
export type Said = {
  readonly action: LineAction
  readonly benefit: string
  readonly startsOn: PlainDate
  readonly endsOn: PlainDate | undefined
  readonly truth: TrueCover | undefined
  readonly step?: WorthStep | undefined
  readonly changesOn?: PlainDate | undefined
}

/** Reads what the lines of one feed say of people. */
export type LineReader = {
  /** The fingerprint of the details that the feed shows of a cover; it depends on nothing else. */
  readonly fingerprint: (subject: Subject, cover: TrueCover, step: WorthStep | undefined) => string
  /** The values of a line that the feed keeps; the number of the line and of the run are added when it is stored. */
  readonly values: (subject: Subject, said: Said) => LineValues
}

/** Opens the reader of a feed: a run reads each value of hundreds of thousands of lines, and only those that the feed has. */
export function openLineReader(feed: Feed): LineReader {
  const names = valuesOf(feed)
  const shown = names.filter(isDetail).sort()
  // Who a member is never changes, and the tier is told of the member.
  const ofMember = shown.filter(name => name !== 'who')
  const ofDependant = shown.filter(name => !TIER_VALUES.includes(name))
  return {
    fingerprint(subject, cover, step) {
      const of = detailed(subject, { benefit: cover.enrolment.benefit, truth: cover, step })
      const told = subject.dependant ? ofDependant : ofMember
      const read = told.map(name => [name, detailOf(name, of)])
      // A feed that comes to tell tiers has nothing new to say where there are none.
      const text = JSON.stringify(read.filter(([name, value]) => name !== 'tier' || value !== ''))
      return keyedHash(subject.partner.hashKey, 'insurer_lines.details', text).toString('base64url', 0, 16)
    },
    values(subject, said) {
      const of = detailed(subject, said)
      const own: Readonly<Record<ValueName, string | undefined>> = {
        ...valuesOfLine(subject, said),
        ...(!said.truth && { tier: tierTaken(of, said) }),
      }
      const values: Record<ValueName, string> = {}
      for (const name of names) {
        const value = Object.hasOwn(own, name) ? own[name] : detailOf(name, of)
        if (value !== undefined) values[name] = value
      }
      return values
    },
  }
}

/** What is of the line itself, or the insurer gave. */
function valuesOfLine(subject: Subject, said: Said): LineValues {
  const { action, benefit, startsOn, endsOn, truth, changesOn } = said
  return {
    serviceid: subject.user.serviceId,
    memberid: subject.memberIdOf(benefit),
    benefit,
    action,
    reason: action === 'void' ? 'corrected' : endsOn === undefined ? '' : (truth?.reason ?? ''),
    startson: startsOn,
    endson: endsOn ?? '',
    effectiveon: changesOn ?? effectiveOn({ action, startsOn, endsOn }, subject.today),
  }
}

/**
 * The tier of a cover that is taken back: that which was told of the member, `''` where there are none; `undefined`: nobody knows it
 * any more, as of a dependant.
 */
function tierTaken({ subject, today }: Detailed, { step }: Said): string | undefined {
  if (subject.dependant) return undefined
  return step?.tier ?? (today?.tiers ? undefined : '')
}

/** The day from which a line counts: the last day for an end, today for details, else the first day of cover. */
export function effectiveOn(
  { action, startsOn, endsOn }: Pick<Said, 'action' | 'startsOn' | 'endsOn'>,
  today: PlainDate,
): PlainDate {
  if (action === 'end' && endsOn !== undefined) return endsOn
  return action === 'change' ? today : startsOn
}
