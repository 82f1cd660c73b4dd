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

/** What publishing a catalogue would do to one user; names are those of benefits and offers. */
export type UserImpact = {
  /** A member has an account; an applicant has a prefill, a registration, or a membership that is over. */
  readonly is: 'member' | 'applicant'
  /** An applicant whose birth date, state or ZIP code is unknown, so that it cannot be said what they would see. */
  readonly isUnknown: boolean
  /** Benefits that would no longer be listed, and benefits that would newly be listed. */
  readonly seesLess: readonly string[]
  readonly seesMore: readonly string[]
  /** Benefits that are held, or accepted for a later start: they stay, by the terms under which they began. */
  readonly keeps: readonly string[]
  readonly keepsOffer: string | undefined
  /** The offer of a pending change that would be canceled. */
  readonly offerChangeOff: string | undefined
  /** Picks that wait, or that a pending change would bring, and that would not begin. */
  readonly picksOff: readonly string[]
  /** Benefits that a pending change would keep today, and would then end. */
  readonly endsWithChange: readonly string[]
  /** Picks that wait and would need one thing more, such as agreeing to a new text. */
  readonly asksMore: readonly string[]
  /** Whether the user would be marked `offerineligible`. */
  readonly isMarked: boolean
  /**
   * The held offer, if its new rules would refuse this person as a newcomer; the rules under which it began still
   * apply.
   */
  readonly couldNotJoin: string | undefined
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

const nothing: Omit<UserImpact, 'is'> = {
  isUnknown: false,
  seesLess: [],
  seesMore: [],
  keeps: [],
  keepsOffer: undefined,
  offerChangeOff: undefined,
  picksOff: [],
  endsWithChange: [],
  asksMore: [],
  isMarked: false,
  couldNotJoin: undefined,
}

function impactOnApplicant(user: User, comparison: Comparison): UserImpact {
  const { applicant } = comparison
  return applicant === undefined
    ? { ...nothing, is: 'applicant', isUnknown: true }
    : { ...nothing, is: 'applicant', ...listingChange(user, applicant, comparison) }
}

function impactOnMember(user: User, comparison: Comparison): UserImpact {
  const { before, after } = comparison
  const residence = before.residence()
  return {
    ...nothing,
    is: 'member',
    keepsOffer: user.offer?.name,
    ...(residence && listingChange(user, residence, comparison)),
    ...pendingChange(user, comparison),
    keeps: user.enrolments.filter(one => isHeld(one) && !waits(one)).map(one => one.benefit),
    asksMore: user.enrolments.filter(one => waits(one) && asksMore(user, one, comparison)).map(nameOf),
    isMarked: user.offer?.admits === true && !isAdmittedToOwnOffer(after, user),
    couldNotJoin: couldNotJoin(user, comparison),
  }
}

/** What the list of benefits would lose and gain, for a request with the person's own data. */
function listingChange(
  user: User,
  { dob, state, zipcode }: Residence,
  { before, after, now }: Comparison,
): Pick<UserImpact, 'seesLess' | 'seesMore'> {
  const request = { age: ageOn(dob, dateAt(now, before.zone)), state, zipcode }
  const namesUnder = (terms: Terms) =>
    (listBenefits({ user, terms, now }, request) ?? []).map(({ benefit }) => benefit.name)
  const [was, is] = [namesUnder(before), namesUnder(after)]
  return { seesLess: without(was, is), seesMore: without(is, was) }
}

/** What would happen to pending changes, and to picks that wait for something. */
function pendingChange(
  user: User,
  { before, after, now }: Comparison,
): Pick<UserImpact, 'offerChangeOff' | 'picksOff' | 'endsWithChange'> {
  const [was, is] = [before, after].map(terms => projectPendingChanges(user, terms, { user, at: now }))
  const live = (projected: User | undefined) => (projected?.enrolments ?? []).filter(isLive)
  const planned = live(was).filter(one => one.plannedBy !== undefined)
  const closed = user.enrolments.filter(
    one => waits(one) && openBenefit(before, one.benefit) && !openBenefit(after, one.benefit),
  )
  const stays = (projected: User | undefined) =>
    live(projected).filter(one => isHeld(one) && one.endsAt === undefined)
  const ended = live(is).filter(one => one.endsAt !== undefined)
  return {
    offerChangeOff:
      user.pendingOffer && wouldChange(user, before) && !wouldChange(user, after)
        ? user.pendingOffer.name
        : undefined,
    picksOff: [...without(planned.map(nameOf), live(is).map(nameOf)), ...closed.map(nameOf)],
    endsWithChange: stays(was)
      .filter(one => ended.some(other => other.id === one.id))
      .map(nameOf),
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

function couldNotJoin(user: User, { before, after, now }: Comparison): string | undefined {
  const name = user.offer?.name
  if (name === undefined) return undefined
  const admits = (terms: Terms) => {
    const offer = terms.today.catalogue.offers.get(name)
    return offer === undefined || judgeHeldOffer(offer, factsAt(terms, now, name)).admitted
  }
  return admits(before) && !admits(after) ? name : undefined
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
