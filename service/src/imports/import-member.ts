import { isDeepStrictEqual } from 'node:util'
import {
  addDays,
  dateAt,
  type Instant,
  isRealDate,
  type PlainDate,
  parseTimestamp,
  startOfDate,
} from '../calendar/calendar.ts'
import { type MonthName, monthAt } from '../calendar/month.ts'
import { type Benefit, type Offer, offerHas } from '../catalogue/model.ts'
import type { CommandContext, Decided } from '../membership/command.ts'
import type { ImportedCover } from '../membership/records/insurer-lines.ts'
import { refuseBirthDate, refuseBirthDates, refusePartnerName } from '../membership/requests/given.ts'
import { coversOfDependant } from '../membership/rules/cover.ts'
import { coversOf, personsOf, withPendingCovers } from '../membership/rules/covers.ts'
import { mergeConsents, newEnrolment, withEnrolment } from '../membership/rules/enrolments.ts'
import {
  ageEndOf,
  coveredFrom,
  brokenRules as judgeFamily,
  namedDependants,
  refuseCover,
} from '../membership/rules/family.ts'
import { missingForAccount, type Person } from '../membership/rules/person.ts'
import {
  because,
  isRefusal,
  type Refusal,
  type RefusalReason,
  reasonsFor,
  refuse,
  refuseField,
} from '../membership/rules/refusal.ts'
import { type Consent, type Covered, isHeld, raise, type User } from '../membership/rules/state.ts'
import {
  judgeOfferAt,
  judgePick,
  missingFor,
  openBenefit,
  partnerOffer,
  partnerOffers,
  type Terms,
} from '../membership/rules/terms.ts'
import type { Partner } from '../partners/partner.ts'
import type { ImportedBenefit, ImportedConsent, ImportedMember } from './read-member.ts'

/** What became of a member: taken, there already as it is in the file, or there already and different in this field. */
export type Imported =
  | { readonly is: 'equal' }
  | {
      readonly is: 'taken'
      /** What the rules would not have admitted. */
      readonly outside: readonly RefusalReason[]
      /** The member, with whom each benefit covers from a day to come on. */
      readonly user: User
      /** The first month in which the member is charged. */
      readonly chargedFrom: MonthName
    }
  | { readonly is: 'different'; readonly field: string }

/** Whether the rules are enforced, whether the partner hears of it, and the month before which nobody is charged. */
export type ImportOptions = {
  readonly checks: boolean
  readonly raises: boolean
  /** `undefined`: the month in which each member is taken. */
  readonly chargeFrom: MonthName | undefined
}

/**
 * Takes a member who is none here yet, with the original dates; compares one who is. Refuses names that the catalogue does not
 * have, dates that cannot be, a user who was erased and, if rules are checked, what they do not admit. Without that check cover
 * that is in force elsewhere stays in force.
 */
export function importMember(
  { member: stored, orNew, now, terms: termsOf }: CommandContext,
  {
    partner,
    member,
    options,
  }: { readonly partner: Partner; readonly member: ImportedMember; readonly options: ImportOptions },
): Decided<Imported> | Refusal {
  const current = stored?.user
  if (current?.status === 'erased') return refuse('user_erased')
  const { newId } = termsOf(member.person)
  const dependants = member.dependants.map(({ benefits: _, ...one }) => ({ dependantid: newId(), ...one }))
  const person: Person = { ...member.person, ...(dependants.length > 0 && { dependants }) }
  const terms = termsOf(person)
  const offer = offerOf(member, terms)
  const consents = consentsOf(member.consents, { now, terms })
  const today = dateAt(now, terms.zone)
  // All that is wrong with a line at once: who corrects a file does not want to run it for each fault.
  const refused = [
    ...missingForAccount(person).map(field => because(field, 'required', `${field} is required`)),
    ...reasonsOf(refuseBirthDate(person.dob, { now, zone: terms.zone })).map(one => ({
      ...one,
      code: 'future',
    })),
    ...reasonsOf(refusePartnerName(partner, member.partnername)),
    ...(isRefusal(offer) ? reasonsOf(offer) : unknownBenefits(member, offer, terms)),
    ...datesRefused(member, today),
    ...reasonsOf(refuseBirthDates(member.dependants, { now, zone: terms.zone })),
    ...(isRefusal(offer) ? [] : familyRefused(member, { offer, today, terms })),
    ...(isRefusal(consents) ? reasonsOf(consents) : []),
  ]
  if (isRefusal(offer) || isRefusal(consents) || refused.length > 0) return refuse('bad_request', refused)
  // A user without an account has neither enrolments nor consents; those of a member are compared.
  const made = accountOf(
    { ...orNew(), enrolments: [], consents: [] },
    { member, offer, consents, now, terms },
  )
  if (current && (current.status === 'active' || current.status === 'cancelled')) {
    const field = differenceOf(current, made, {
      before: stored?.person('profile') ?? {},
      after: person,
      terms,
    })
    return { answer: () => (field === undefined ? { is: 'equal' } : { is: 'different', field }) }
  }
  const outside = brokenRules(member, offer, made, terms)
  if (options.checks && outside.length > 0) return refuse('ineligible', outside)
  const chargedFrom = options.chargeFrom ?? monthAt(now, terms.zone)
  const evidence = new Map(member.consents.map(one => [one.name, one.evidence]))
  return {
    answer: user => ({ is: 'taken', outside, user: withPendingCovers(user, terms), chargedFrom }),
    change: {
      user: made,
      events: options.raises ? [raise(made, 'enrollment_successful', now)] : [],
      documents: { profile: person, prefill: null, draft: null },
      told: toldBefore(made, member, terms),
      chargedFrom,
      evidence: consent => evidence.get(consent.name) ?? '',
    },
  }
}

function reasonsOf(refusal: Refusal | undefined): readonly RefusalReason[] {
  return refusal?.reasons ?? []
}

/** What the former system had told insurers: the covers for which they gave a member number, each with all whom it covers. */
function toldBefore(made: User, { person }: ImportedMember, terms: Terms): ImportedCover[] {
  const ahead = withPendingCovers(made, terms)
  return Object.entries(person.memberids ?? {}).flatMap(([benefit, memberId]) => {
    const insurer = openBenefit(terms, benefit)?.insurer?.insurer
    if (!insurer) return []
    return personsOf(ahead, benefit).flatMap(person =>
      coversOf(ahead, benefit, terms.zone, person).map(({ startsOn }) => ({
        insurer,
        benefit,
        person,
        startsOn,
        memberId,
      })),
    )
  })
}

/**
 * Dependants of benefits that the member does not get, days before the benefit's own or too far ahead, and a second day to come in
 * one benefit, which can have one planned change of cover.
 */
function familyRefused(
  { benefits, since, dependants }: ImportedMember,
  { offer, today, terms }: { readonly offer: Offer; readonly today: PlainDate; readonly terms: Terms },
): RefusalReason[] {
  const planned = new Map<string, PlainDate>()
  return dependants.flatMap(({ relationship, benefits: covering }, index) =>
    covering.flatMap(({ name, startsOn }, nth) => {
      const field = `dependants[${index}].benefits[${nth}]`
      const held = benefits.find(one => one.name === name)
      if (!held && !offer.fixed.includes(name))
        return [because(field, 'not_selectable', `${field} is no benefit of the member`)]
      if (!openBenefit(terms, name)?.covers?.[relationship])
        return [because(field, 'relationship_not_covered', `${field} does not cover this relationship`)]
      const first = held?.startsOn ?? since
      if (startsOn === undefined || startsOn === first) return []
      const day = `${field}.startson`
      if (startsOn < first || startsOn > addDays(today, MOST_DAYS_AHEAD))
        return [because(day, 'range', `${day} must be from the benefit's first day to 90 days ahead`)]
      if (startsOn <= today) return []
      const other = planned.get(name) ?? startsOn
      planned.set(name, other)
      return startsOn === other
        ? []
        : [because(day, 'two_changes', `${day} is a second day on which the benefit would cover more`)]
    }),
  )
}

function offerOf({ offer: name }: ImportedMember, terms: Terms): Offer | Refusal {
  const named = name === undefined ? undefined : partnerOffer(terms, name)
  if (named) return named
  if (name !== undefined) return refuseField('offername', 'offername_unknown', 'must be the name of an offer')
  const [only, ...more] = partnerOffers(terms)
  return only && more.length === 0
    ? only
    : refuseField('offername', 'required', 'must be the name of one of the offers')
}

function consentsOf(
  given: readonly ImportedConsent[],
  { now, terms }: { now: number; terms: Terms },
): Consent[] | Refusal {
  const consents: Consent[] = []
  for (const [index, { name, version, agreedAt: text }] of given.entries()) {
    const field = `consents[${index}]`
    if (!openBenefit(terms, name)?.consent)
      return refuseField(`${field}.name`, 'unknown', 'must be a benefit that asks for a consent')
    const agreedAt = isRealDate(text) ? startOfDate(text, terms.zone) : parseTimestamp(text)
    if (agreedAt === undefined)
      return refuseField(`${field}.agreedat`, 'format', 'must be a date or a timestamp')
    if (text < FIRST_DAY) return refuseField(`${field}.agreedat`, 'range', `must not lie before ${FIRST_DAY}`)
    if (agreedAt > now) return refuseField(`${field}.agreedat`, 'future', 'must not lie in the future')
    consents.push({ name, version, agreedAt, locale: 'en', channel: 'import' })
  }
  return consents
}

const FIRST_DAY = '1900-01-01'
const MOST_DAYS_AHEAD = 90

function datesRefused({ since, benefits }: ImportedMember, today: PlainDate): RefusalReason[] {
  const last = addDays(today, MOST_DAYS_AHEAD)
  const isPossible = (date: PlainDate) => date >= FIRST_DAY && date <= last
  const ofBenefits = benefits
    .map(({ startsOn }, index) => ({ field: `benefits[${index}].startson`, date: startsOn }))
    .filter(({ date }) => date !== since)
  const all = [{ field: 'offersince', date: since }, ...ofBenefits]
  return all
    .filter(({ date }) => !isPossible(date))
    .map(({ field }) => because(field, 'range', `${field} must be a day from ${FIRST_DAY} to 90 days ahead`))
}

function unknownBenefits({ benefits }: ImportedMember, offer: Offer, terms: Terms): RefusalReason[] {
  return benefits.flatMap(({ name }, index) => {
    const field = `benefits[${index}]`
    if (!openBenefit(terms, name))
      return [because(field, 'benefit_unknown', `${field} is not in the catalogue`)]
    return offerHas(offer, name)
      ? []
      : [because(field, 'not_selectable', `${field} is no benefit of the offer`)]
  })
}

type Given = {
  readonly member: ImportedMember
  readonly offer: Offer
  readonly consents: readonly Consent[]
  readonly now: number
  readonly terms: Terms
}

/** The account of the member. A fixed benefit that the file does not name is added if its rules admit the person, as at create. */
function accountOf(user: User, { member, offer, consents, now, terms }: Given): User {
  const since = startOfDate(member.since, terms.zone)
  let made: User = {
    ...user,
    status: 'active',
    updatedAt: now,
    entryExpiresAt: undefined,
    cancel: undefined,
    pendingOffer: undefined,
    swap: undefined,
    offer: {
      name: offer.offer,
      since,
      version: terms.today.version,
      inForce: since <= now,
      admits: true,
    },
    consents: mergeConsents([], consents),
    dependantsVersion: member.dependants.length > 0 ? 1 : undefined,
  }
  const named = new Set(member.benefits.map(({ name }) => name))
  const fixed = offer.fixed
    .filter(name => !named.has(name))
    .filter(name => {
      const benefit = openBenefit(terms, name)
      return benefit !== undefined && judgePick(terms, benefit, since, offer.offer).admitted
    })
  for (const { name, startsOn } of [
    ...fixed.map(name => ({ name, startsOn: member.since })),
    ...member.benefits,
  ]) {
    const benefit = openBenefit(terms, name)
    if (!benefit) continue
    const startsAt = startOfDate(startsOn, terms.zone)
    const isFixed = offer.fixed.includes(name)
    const fresh = newEnrolment(made, terms, { benefit, offer: offer.offer, isFixed, pickedAt: now, startsAt })
    const state = startsAt <= now ? 'enrolled' : 'scheduled'
    const people = coveredOf(member, benefit, { startsAt, now, terms })
    const covered = people.filter(({ startsAt: own = startsAt }) => own <= Math.max(now, startsAt))
    const comesAt = people.find(one => !covered.includes(one))?.startsAt
    made = withEnrolment(made, {
      ...{ ...fresh, state, actionDueAt: undefined },
      ...(covered.length > 0 && { covered }),
      // Nothing falls due for a row of `covered` when it begins, as it does for a change of cover.
      ...(comesAt !== undefined && {
        pendingCover: {
          at: comesAt,
          people: people.map(({ dependantId, relationship }) => ({ dependantId, relationship })),
        },
      }),
    })
  }
  return made
}

/** Whom a benefit covers; nobody loses cover for the past, so an end by age lies ahead. */
function coveredOf(
  { dependants }: ImportedMember,
  benefit: Benefit,
  { startsAt, now, terms }: { startsAt: Instant; now: Instant; terms: Terms },
): Covered[] {
  return dependants.flatMap(({ benefits: covering }, index) => {
    const place = covering.find(({ name }) => name === benefit.name)
    const person = terms.dependants()[index]
    if (!place || !person) return []
    const own = place.startsOn === undefined ? startsAt : startOfDate(place.startsOn, terms.zone)
    return coveredFrom(benefit, [person], { startsAt: own, isLater: own > startsAt, terms }).map(one => ({
      ...one,
      end: ageEndOf(benefit, person, Math.max(own, now), terms),
    }))
  })
}

/** The field of the file in which a member who is here already differs; `undefined` when none does. */
function differenceOf(
  current: User,
  made: User,
  { before, after, terms }: { readonly before: Person; readonly after: Person; readonly terms: Terms },
): string | undefined {
  if (current.status !== 'active') return 'userid'
  // Facts of which an update removed the last are kept as an empty object. Dependants are compared below.
  const plain = ({ dependants: _, moredetails = {}, ...rest }: Person) => ({ ...rest, moredetails })
  if (!isDeepStrictEqual(plain(before), plain(after))) return 'person'
  if (!isDeepStrictEqual(familyIn(current, before, terms), familyIn(made, after, terms))) return 'dependants'
  if (current.offer?.name !== made.offer?.name) return 'offername'
  if (current.offer?.since !== made.offer?.since) return 'offersince'
  const covers = ({ enrolments }: User) =>
    enrolments
      .filter(isHeld)
      .map(({ benefit, startsAt }) => `${benefit}@${startsAt}`)
      .sort()
  if (!isDeepStrictEqual(covers(current), covers(made))) return 'benefits'
  const isKnown = (given: Consent) =>
    current.consents.some(
      ({ name, version, agreedAt }) =>
        name === given.name && version === given.version && agreedAt === given.agreedAt,
    )
  return made.consents.every(isKnown) ? undefined : 'consents'
}

/** The dependants and what covers each or will, without the ids, which are new at each reading of a file. */
function familyIn(user: User, { dependants = [] }: Person, terms: Terms): object[] {
  const held = { ...user, enrolments: user.enrolments.filter(isHeld) }
  return dependants.map(one => ({
    ...{ ...one, dependantid: '' },
    covers: coversOfDependant(held, one, terms)
      .map(({ benefit, startsAt }) => `${benefit}@${startsAt}`)
      .sort(),
  }))
}

/** The rules that the dependants of a member break, by their places in the line. */
function brokenByFamily({ dependants }: ImportedMember, { enrolments }: User, terms: Terms): RefusalReason[] {
  return enrolments.flatMap(enrolment => {
    const benefit = openBenefit(terms, enrolment.benefit)
    if (!benefit) return []
    const { covered = [], pendingCover, startsAt } = enrolment
    const present = covered.map(({ dependantId }) => dependantId)
    const later = pendingCover?.people.map(({ dependantId }) => dependantId) ?? []
    const candidates = namedDependants(terms, later).map(one => ({
      ...one,
      isCovered: present.includes(one.dependantid),
    }))
    const broken = new Map([
      ...judgeFamily(benefit, namedDependants(terms, present), startsAt, terms),
      ...judgeFamily(benefit, candidates, pendingCover?.at ?? startsAt, terms),
    ])
    const fieldOf = (id: string) => {
      const index = terms.dependants().findIndex(({ dependantid }) => dependantid === id)
      const nth = dependants[index]?.benefits.findIndex(({ name }) => name === enrolment.benefit)
      return `dependants[${index}].benefits[${nth}]`
    }
    return reasonsOf(refuseCover(broken, fieldOf, { isNew: true }))
  })
}

function brokenRules(member: ImportedMember, offer: Offer, made: User, terms: Terms): RefusalReason[] {
  const { benefits } = member
  const picks = benefits.filter(({ name }) => !offer.fixed.includes(name))
  const ofBenefit = ({ name, startsOn }: ImportedBenefit, index: number) => {
    const field = `benefits[${index}]`
    const benefit = openBenefit(terms, name)
    if (!benefit) return []
    const { reasons } = judgePick(terms, benefit, startOfDate(startsOn, terms.zone), offer.offer)
    return [
      ...reasonsFor(field, reasons),
      ...missingFor(made, benefit).map(code =>
        because(field, code, `${field} needs more before it can begin`),
      ),
    ]
  }
  return [
    ...reasonsFor('offername', judgeOfferAt(terms, offer, made.offer?.since ?? 0).reasons),
    ...(picks.length > offer.slots
      ? [because('benefits', 'slots_exceeded', 'benefits are more than the slots')]
      : []),
    ...benefits.flatMap(ofBenefit),
    ...brokenByFamily(member, made, terms),
  ]
}
