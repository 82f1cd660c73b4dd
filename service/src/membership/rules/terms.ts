import { ageOn, dateAt, type Instant, type PlainDate, type Zone } from '../../calendar/calendar.ts'
import {
  type Facts,
  judgeBenefit,
  judgeHeldOffer,
  judgeOffer,
  type Verdict,
} from '../../catalogue/eligibility.ts'
import { type Benefit, type Catalogue, type Language, type Offer, textIn } from '../../catalogue/model.ts'
import type { Dependant } from './dependant.ts'
import { type Enrolment, isHeld, type User } from './state.ts'

/** One published version of the catalogue. */
type Published = { readonly version: number; readonly catalogue: Catalogue }

/** What decides about a user: the catalogue, the partner's zone and offers, and the user's own data. */
export type Terms = {
  readonly zone: Zone
  /** The newest version: it decides listing, eligibility and new picks. */
  readonly today: Published
  /** An earlier version, whose terms apply to enrolments that began under it. */
  readonly version: (version: number) => Catalogue
  /** The partner's offers; `undefined`: all. */
  readonly partnerOffers: readonly string[] | undefined
  /** Birth date, state and ZIP code of the account, once they are known. */
  readonly residence: () => Residence | undefined
  /** The dependants of the account. */
  readonly dependants: () => readonly Dependant[]
  /** Age, state and ZIP code from a request; when given, they replace those of the account. */
  readonly asked?: Omit<Facts, 'offer'>
  /** A fresh id for an enrolment. */
  readonly newId: () => string
}

/** The data of a person on which eligibility depends. */
export type Residence = { readonly dob: PlainDate; readonly state: string; readonly zipcode: string }

/**
 * The facts about the person at an instant, with the age on that date; or the facts of the request, unchanged. Throws
 * when there are neither.
 */
export function factsAt(terms: Terms, at: Instant, offer: string | undefined): Facts {
  const facts = terms.asked ?? ownFacts(terms, at)
  return offer === undefined ? facts : { ...facts, offer }
}

function ownFacts(terms: Terms, at: Instant): Facts {
  const residence = terms.residence()
  if (!residence) throw new Error('an account without birth date, state and ZIP code')
  const { dob, state, zipcode } = residence
  return { age: ageOn(dob, dateAt(at, terms.zone)), state, zipcode }
}

/**
 * An offer that the partner may give to newcomers; `undefined` when the partner may not give it or the catalogue does
 * not have it.
 */
export function partnerOffer(terms: Terms, name: string): Offer | undefined {
  return terms.partnerOffers && !terms.partnerOffers.includes(name)
    ? undefined
    : terms.today.catalogue.offers.get(name)
}

/** All offers that the partner may give, by rank. */
export function partnerOffers(terms: Terms): Offer[] {
  return [...terms.today.catalogue.offers.values()]
    .filter(offer => partnerOffer(terms, offer.offer) !== undefined)
    .sort((a, b) => a.rank - b.rank)
}

/** Whether newcomers may take the offer on the date of `at`. */
export function isAvailable(terms: Terms, offer: Offer, at: Instant): boolean {
  const date = dateAt(at, terms.zone)
  const { from, until } = offer.availability ?? {}
  return (from === undefined || date >= from) && (until === undefined || date <= until)
}

/**
 * The offer that the user has or will start with: by today's terms, or by those under which it began if it was closed
 * since.
 */
export function offerOf(terms: Terms, user: User): Offer | undefined {
  return (
    user.offer &&
    (terms.today.catalogue.offers.get(user.offer.name) ??
      terms.version(user.offer.version).offers.get(user.offer.name))
  )
}

/** A benefit that can be picked today; `undefined` when it is closed to newcomers. */
export function openBenefit(terms: Terms, name: string): Benefit | undefined {
  return terms.today.catalogue.benefits.get(name)
}

/** A benefit for display: today's entry, or the entry under which the user holds it. */
export function knownBenefit(terms: Terms, user: User, name: string): Benefit | undefined {
  const open = openBenefit(terms, name)
  if (open) return open
  const held = user.enrolments.findLast(enrolment => enrolment.benefit === name)
  return held && terms.version(held.version).benefits.get(name)
}

/** What people call a benefit; its name when it is neither in today's catalogue nor held. */
export function displayNameOf(terms: Terms, user: User, name: string, locale: Language): string {
  const benefit = knownBenefit(terms, user, name)
  return benefit ? textIn(benefit.displayname, locale) : name
}

/** The verdict on a new pick at an instant, under an offer. */
export function judgePick(terms: Terms, benefit: Benefit, at: Instant, offer: string): Verdict {
  return judgeBenefit(benefit, factsAt(terms, at, offer))
}

/** The verdict on an offer at an instant, with its availability on that date. */
export function judgeOfferAt(terms: Terms, offer: Offer, at: Instant): Verdict {
  return judgeOffer(offer, factsAt(terms, at, offer.offer), dateAt(at, terms.zone))
}

/**
 * Whether the user could join the present offer, by the rules under which the user joined and with the age on the day
 * of joining, because time alone ends nothing.
 */
export function isAdmittedToOwnOffer(terms: Terms, user: User): boolean {
  return judgeOwnOffer(terms, user)?.admitted ?? true
}

/** The same verdict with its reasons; `undefined` for a user without an offer. */
export function judgeOwnOffer(terms: Terms, user: User): Verdict | undefined {
  const offer = user.offer && terms.version(user.offer.version).offers.get(user.offer.name)
  if (!offer || !user.offer) return undefined
  return judgeHeldOffer(offer, factsAt(terms, user.offer.since, offer.offer))
}

/** The benefit by the terms under which it is held. */
export function heldTerms(terms: Terms, enrolment: Enrolment): Benefit | undefined {
  return terms.version(enrolment.tiersFrom?.version ?? enrolment.version).benefits.get(enrolment.benefit)
}

/** Whether a benefit's rules about offers admit an offer, regardless of the person. */
export function admitsOffer(benefit: Benefit, offer: string): boolean {
  return benefit.rules.every(rule => rule.kind !== 'offers' || rule.in.includes(offer))
}

/** How many slots the user's picks take. */
export function slotsTaken(user: User): number {
  return user.enrolments.filter(enrolment => isHeld(enrolment) && !enrolment.isFixed).length
}

/** Whether the user gave the benefit's consent in its present version, if the benefit needs one. */
export function hasConsent(user: User, benefit: Benefit): boolean {
  return (
    benefit.consent === undefined ||
    user.consents.some(given => given.name === benefit.name && given.version === benefit.consent?.version)
  )
}

/** Whether the benefit may begin with regard to beneficiaries: it requires none, or the person has confirmed some. */
export function hasBeneficiary(user: User, benefit: Benefit): boolean {
  return benefit.beneficiaries !== 'required' || user.designations.some(one => one.benefit === benefit.name)
}

/** What the person must still do before the benefit can begin, in the names of `requiredactions`. */
export function missingFor(user: User, benefit: Benefit): ('consent_required' | 'beneficiary')[] {
  return [
    ...(hasConsent(user, benefit) ? [] : (['consent_required'] as const)),
    ...(hasBeneficiary(user, benefit) ? [] : (['beneficiary'] as const)),
  ]
}
