import { listBenefits } from '../../benefits/listing.ts'
import { ageOn, dateAt, type Instant } from '../../calendar/calendar.ts'
import { judgeHeldOffer } from '../../catalogue/eligibility.ts'
import { applyDueChanges, projectPendingChanges } from '../../membership/rules/apply-due.ts'
import { beforeSwap } from '../../membership/rules/boundary.ts'
import { applyOfferChange } from '../../membership/rules/intents.ts'
import { type Enrolment, isActive, isHeld, isLive, type User } from '../../membership/rules/state.ts'
import {
  factsAt,
  isAdmittedToOwnOffer,
  missingFor,
  openBenefit,
  type Residence,
  type Terms,
} from '../../membership/rules/terms.ts'

/** What publishing would do to a benefit or an offer of a user, as commands print it. */
export type Consequence =
  /** Held, or accepted for a later start: it stays, by the terms under which it began. */
  | 'keep'
  /** It would no longer be listed, or newly be listed. */
  | 'seeless'
  | 'seemore'
  /** A pick that waits, or that a pending change would bring, and that would not begin; an offer to which no move would come. */
  | 'calledoff'
  /** A pending change would keep the benefit today, and would then end it. */
  | 'endwithchange'
  /** The pick waits and would need one thing more, such as agreeing to a new text. */
  | 'askmore'
  /**
   * The offer is held, and its new rules would refuse this person as a newcomer; the rules under which it began still
   * apply.
   */
  | 'couldnotjoin'

/** The names of benefits or offers by what would become of them. */
export type Consequences = Partial<Readonly<Record<Consequence, readonly string[]>>>

/** What publishing a catalogue would do to one user. */
export type UserImpact = {
  /** A member has an account; an applicant has a prefill, a registration, or a membership that is over. */
  readonly is: 'member' | 'applicant'
  /** An applicant whose birth date, state or ZIP code is unknown, so that it cannot be said what they would see. */
  readonly isUnknown: boolean
  /** Whether the user would be marked `offerineligible`. */
  readonly isMarked: boolean
  readonly benefits: Consequences
  readonly offers: Consequences
}

/** Two catalogues as they apply to one user: today's terms, and those after publishing. */
type Comparison = {
  readonly before: Terms
  readonly after: Terms
  readonly now: Instant
  /** The known data of an applicant; the data of a member is part of the terms. */
  readonly applicant: Residence | undefined
}

/**
 * What publishing would do to a user, by the rules that will decide afterwards; `undefined` for a user without data,
 * whose prefill has lapsed or who was erased.
 */
export function impactOn(user: User, comparison: Comparison): UserImpact | undefined {
  const { before, now } = comparison
  // Changes that are already due are decided by today's catalogue.
  const current = applyDueChanges(user, now, before).at(-1)?.after ?? user
  if (isActive(current)) return impactOnMember(current, comparison)
  const isApplicant = ['prefilled', 'registering', 'cancelled'].includes(current.status)
  return isApplicant ? impactOnApplicant(current, comparison) : undefined
}

function impactOnApplicant(user: User, comparison: Comparison): UserImpact {
  const { applicant } = comparison
  return {
    is: 'applicant',
    isUnknown: applicant === undefined,
    isMarked: false,
    benefits: applicant ? listingChange(user, applicant, comparison) : {},
    offers: {},
  }
}

function impactOnMember(user: User, comparison: Comparison): UserImpact {
  const { before, after } = comparison
  const residence = before.residence()
  return {
    is: 'member',
    isUnknown: false,
    isMarked: user.offer?.admits === true && !isAdmittedToOwnOffer(after, user),
    benefits: {
      ...(residence && listingChange(user, residence, comparison)),
      ...pendingChange(user, comparison),
      keep: user.enrolments.filter(one => isHeld(one) && !waits(one)).map(nameOf),
      askmore: user.enrolments.filter(one => waits(one) && asksMore(user, one, comparison)).map(nameOf),
    },
    offers: offerConsequences(user, comparison),
  }
}

/** What the list of benefits would lose and gain, for a request with the person's own data. */
function listingChange(
  user: User,
  { dob, state, zipcode }: Residence,
  { before, after, now }: Comparison,
): Consequences {
  const request = { age: ageOn(dob, dateAt(now, before.zone)), state, zipcode }
  const namesUnder = (terms: Terms) =>
    (listBenefits({ user, terms, now }, request) ?? []).map(({ benefit }) => benefit.name)
  const [was, is] = [namesUnder(before), namesUnder(after)]
  return { seeless: without(was, is), seemore: without(is, was) }
}

/** What would happen to benefits with pending changes, and to picks that wait for something. */
function pendingChange(user: User, { before, after, now }: Comparison): Consequences {
  const [was, is] = [before, after].map(terms => projectPendingChanges(user, terms, { user, at: now }))
  const live = (projected: User | undefined) => (projected?.enrolments ?? []).filter(isLive)
  const pending = live(was).filter(one => one.pendingBy !== undefined)
  const closed = user.enrolments.filter(
    one => waits(one) && openBenefit(before, one.benefit) && !openBenefit(after, one.benefit),
  )
  const stay = live(was).filter(one => isHeld(one) && one.endsAt === undefined)
  const ended = live(is).filter(one => one.endsAt !== undefined)
  return {
    calledoff: [...without(pending.map(nameOf), live(is).map(nameOf)), ...closed.map(nameOf)],
    endwithchange: stay.filter(one => ended.some(other => other.id === one.id)).map(nameOf),
  }
}

/** What would happen to the member's offer, and to the offer of a pending change. */
function offerConsequences(user: User, { before, after, now }: Comparison): Consequences {
  const { offer: held, pendingOffer } = user
  const isCalledOff = wouldChange(user, before) && !wouldChange(user, after)
  const admits = (terms: Terms, name: string) => {
    const offer = terms.today.catalogue.offers.get(name)
    return offer === undefined || judgeHeldOffer(offer, factsAt(terms, now, name)).admitted
  }
  return {
    keep: held ? [held.name] : [],
    calledoff: pendingOffer && isCalledOff ? [pendingOffer.name] : [],
    couldnotjoin: held && admits(before, held.name) && !admits(after, held.name) ? [held.name] : [],
  }
}

/** Whether a pending offer change would take effect at its time. */
function wouldChange(user: User, terms: Terms): boolean {
  const { pendingOffer } = user
  if (!pendingOffer) return false
  const { name, at } = pendingOffer
  const then = beforeSwap({ ...user, pendingOffer: undefined }, at, terms)
  return applyOfferChange(then, name, { at, terms }).user.offer?.name === name
}

function asksMore(user: User, { benefit }: Enrolment, { before, after }: Comparison): boolean {
  const [was, is] = [openBenefit(before, benefit), openBenefit(after, benefit)]
  return was !== undefined && is !== undefined && missingFor(user, is).length > missingFor(user, was).length
}

/** Whether an enrolment still waits for an action of the person. */
function waits(enrolment: Enrolment): boolean {
  return isHeld(enrolment) && (enrolment.state === 'actionrequired' || enrolment.state === 'selected')
}

function nameOf(enrolment: Enrolment): string {
  return enrolment.benefit
}

function without(names: readonly string[], others: readonly string[]): string[] {
  return names.filter(name => !others.includes(name))
}
