import type { BenefitsRequest, BenefitWithStatus, Locale } from '@benefit-enrolment/contract'
import { dateAt, formatTimestamp } from '../calendar/calendar.ts'
import { type Facts, judgeBenefit, judgeOffer } from '../catalogue/eligibility.ts'
import type { Benefit, Offer } from '../catalogue/model.ts'
import type { Reading } from '../membership/reader.ts'
import {
  type Enrolment,
  hasPendingCancel,
  isHeld,
  isInForce,
  isLive,
  type User,
} from '../membership/state.ts'
import {
  isAvailable,
  knownBenefit,
  offerOf,
  openBenefit,
  partnerOffer,
  partnerOffers,
  type Terms,
} from '../membership/terms.ts'
import { hasFreeSlot } from './single.ts'

const maxListed = 200

/** One element of the list before it gets its words: what it is, and how the user stands to it. */
export type Listed = {
  readonly benefit: Benefit
  readonly enrolment: Enrolment | undefined
  readonly status: BenefitWithStatus['status']
  readonly route: 'swap' | 'manage' | 'enrol' | 'details'
  readonly swap: Pick<
    BenefitWithStatus,
    'isselectedforswap' | 'swapeffectiveattimestamp' | 'swapexpiresattimestamp'
  >
}

/**
 * The benefits open to a user, with how the user stands to each (contract §6); `undefined` when the offer asked for
 * is not the partner's, or neither in today's catalogue nor the user's own.
 */
export const listBenefits = (reading: Reading, request: BenefitsRequest): Listed[] | undefined => {
  const { user, terms, now } = reading
  const facts: Facts = { age: request.age, state: request.state, zipcode: request.zipcode }
  const own = hasAccount(user) ? offerOf(terms, user) : undefined
  const asked = request.offername ? askedOffer(user, terms, request.offername) : undefined
  if (request.offername && !asked) return undefined
  const offers = asked ? [asked] : own ? [own] : openOffers(terms, facts, now)

  const listed = new Map<string, Listed>()
  const add = (name: string, offer: Offer) => {
    if (listed.has(name)) return
    const enrolment = enrolmentOf(user, name)
    const open = openBenefit(terms, name)
    const isHeldHere = enrolment !== undefined && isLive(enrolment)
    const isAdmitted = open !== undefined && judgeBenefit(open, { ...facts, offer: offer.offer }).admitted
    const benefit = isHeldHere ? knownBenefit(terms, user, name) : open
    if (!benefit || !(isHeldHere || isAdmitted)) return
    listed.set(name, describe(benefit, { user, terms, own, enrolment, isAdmitted }))
  }
  for (const offer of offers) for (const name of [...offer.fixed, ...offer.selectable]) add(name, offer)
  if (!asked && own)
    for (const enrolment of user.enrolments)
      if (isHeld(enrolment) || isSwappedIn(enrolment)) add(enrolment.benefit, own)
  return [...listed.values()].sort(inOrder).slice(0, maxListed)
}

const hasAccount = (user: User): boolean => user.status === 'active'

const askedOffer = (user: User, terms: Terms, name: string): Offer | undefined =>
  partnerOffer(terms, name) ??
  (hasAccount(user) && user.offer?.name === name ? offerOf(terms, user) : undefined)

const openOffers = (terms: Terms, facts: Facts, now: number): Offer[] =>
  partnerOffers(terms).filter(
    offer => isAvailable(terms, offer, now) && judgeOffer(offer, facts, dateAt(now, terms.zone)).admitted,
  )

/** The live enrolment of a benefit, one in force before one that is planned. */
const enrolmentOf = (user: User, name: string): Enrolment | undefined =>
  user.enrolments.find(enrolment => enrolment.benefit === name && isHeld(enrolment)) ??
  user.enrolments.find(enrolment => enrolment.benefit === name && isLive(enrolment))

type Standing = {
  user: User
  terms: Terms
  own: Offer | undefined
  enrolment: Enrolment | undefined
  isAdmitted: boolean
}

const describe = (benefit: Benefit, standing: Standing): Listed => {
  const { user, own, enrolment } = standing
  const isEnrolled = enrolment !== undefined && isInForce(enrolment)
  const swap = swapFields(benefit, user, own)
  return {
    benefit,
    enrolment,
    status: isEnrolled ? 'enrolled' : 'notenrolled',
    route: routeOf(benefit, standing, swap.isselectedforswap === true),
    swap,
  }
}

/**
 * Swappable: selectable in the offer in force, or part of the pending swap though a newer catalogue has dropped it.
 * Told of is what the swap will do: a pair that cannot take effect any more leaves its benefits untouched.
 */
const swapFields = (benefit: Benefit, user: User, own: Offer | undefined): Listed['swap'] => {
  const none = { isselectedforswap: null, swapeffectiveattimestamp: null, swapexpiresattimestamp: null }
  if (!own || !user.offer?.inForce) return none
  const { swap } = user
  const mine = user.enrolments.filter(enrolment => enrolment.benefit === benefit.name)
  if (swap && mine.some(isSwappedIn)) {
    return { ...none, isselectedforswap: true, swapeffectiveattimestamp: formatTimestamp(swap.at) }
  }
  if (swap && mine.some(enrolment => isSwappedOut(enrolment, swap))) {
    return { ...none, isselectedforswap: true, swapexpiresattimestamp: formatTimestamp(swap.at) }
  }
  return own.selectable.includes(benefit.name) ? { ...none, isselectedforswap: false } : none
}

const isSwappedIn = (enrolment: Enrolment): boolean => enrolment.plannedBy === 'swap' && isLive(enrolment)

const isSwappedOut = (enrolment: Enrolment, swap: NonNullable<User['swap']>): boolean =>
  isInForce(enrolment) &&
  enrolment.endsAt === swap.at &&
  swap.pairs.some(pair => pair.remove === enrolment.benefit)

/** Where the tile leads: the first that fits of swap, manage, enrol, details. Without an account: enrol. */
const routeOf = (benefit: Benefit, standing: Standing, isPickedForSwap: boolean): Listed['route'] => {
  const { user, own, enrolment, isAdmitted } = standing
  if (!hasAccount(user)) return 'enrol'
  const isEnrolled = enrolment !== undefined && isInForce(enrolment)
  const isSelectable = own?.selectable.includes(benefit.name) ?? false
  const hasSlot = own !== undefined && hasFreeSlot(user, own)
  // Where a cancel is pending no swap is: its boundary is the cancel's.
  const maySwap = (user.offer?.inForce ?? false) && !hasPendingCancel(user)
  const mayComeInBySwapOnly = isSelectable && isAdmitted && enrolment === undefined && !hasSlot && maySwap
  if (isPickedForSwap || mayComeInBySwapOnly) return 'swap'
  if (isEnrolled) return 'manage'
  const isOfOffer = isSelectable || (own?.fixed.includes(benefit.name) ?? false)
  const mayEnrol =
    enrolment === undefined
      ? isOfOffer && isAdmitted && (hasSlot || !isSelectable)
      : enrolment.state === 'actionrequired'
  return mayEnrol ? 'enrol' : 'details'
}

const inOrder = (a: Listed, b: Listed): number =>
  a.benefit.sortorder - b.benefit.sortorder ||
  compareWithoutCase(a.benefit.displayname.en, b.benefit.displayname.en) ||
  (a.benefit.name < b.benefit.name ? -1 : 1)

const collator = new Intl.Collator('en', { sensitivity: 'base' })
const compareWithoutCase = (a: string, b: string): number => collator.compare(a, b)

/** The words of a benefit as JSON text, made once for each benefit, language and address of the service. */
export const openFragments = (baseUrl: () => string) => {
  const made = new WeakMap<Benefit, Map<string, { head: string; middle: string; link: string }>>()
  return (listed: Listed, locale: Locale): string => {
    const { benefit } = listed
    const known = made.get(benefit) ?? new Map<string, { head: string; middle: string; link: string }>()
    made.set(benefit, known)
    const key = `${locale} ${baseUrl()}`
    const fragment = known.get(key) ?? fragmentOf(benefit, locale, baseUrl())
    known.set(key, fragment)
    const { swap } = listed
    return (
      `${fragment.head}${listed.status}${fragment.middle}${listed.route}"` +
      `,"isselectedforswap":${swap.isselectedforswap}` +
      `,"swapeffectiveattimestamp":${quoted(swap.swapeffectiveattimestamp)}` +
      `,"swapexpiresattimestamp":${quoted(swap.swapexpiresattimestamp)}}`
    )
  }
}

const quoted = (text: string | null): string => (text === null ? 'null' : `"${text}"`)

const fragmentOf = (benefit: Benefit, locale: Locale, baseUrl: string) => {
  const link = `productname=${encodeURIComponent(benefit.name)}&producttype=${encodeURIComponent(benefit.benefittype)}&redirectto=`
  const words = {
    name: benefit.name,
    displayname: benefit.displayname[locale],
    icon: `${baseUrl}/icons/${benefit.icon}`,
    description: benefit.description[locale],
  }
  return {
    head: `${JSON.stringify(words).slice(0, -1)},"status":"`,
    middle: `","benefittype":${JSON.stringify(benefit.benefittype)},"deeplinkdata":${JSON.stringify(link).slice(0, -1)}`,
    link,
  }
}
