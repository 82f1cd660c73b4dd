import type { BenefitWithStatus, Locale } from '@benefit-enrolment/contract'
import {
  addDays,
  dateAt,
  formatTimestamp,
  type Instant,
  lockedFrom,
  startOfDate,
} from '../calendar/calendar.ts'
import type { Facts } from '../catalogue/eligibility.ts'
import { iconPathOf } from '../catalogue/file-paths.ts'
import type { Benefit, Offer } from '../catalogue/model.ts'
import type { Reading } from '../membership/reading/reader.ts'
import { dueAt } from '../membership/rules/apply-due.ts'
import { cutoffHours, swapBoundary } from '../membership/rules/boundary.ts'
import { enrolmentOf } from '../membership/rules/enrolments.ts'
import {
  type Enrolment,
  heldEnrolment,
  isActive,
  isHeld,
  isInForce,
  isLive,
  type User,
} from '../membership/rules/state.ts'
import {
  judgeOfferAt,
  judgePick,
  knownBenefit,
  offerOf,
  openBenefit,
  partnerOffer,
  partnerOffers,
  type Terms,
} from '../membership/rules/terms.ts'
import { mayEnrol } from './single.ts'
import { openSwaps } from './swap.ts'

const MAX_LISTED = 200

/** The parts of a reading from which a list is made. */
type ReadState = Pick<Reading, 'user' | 'terms' | 'now'>

/** What a request for a list says about the person. */
export type ListedFacts = Omit<Facts, 'offer'> & { readonly offername?: string }

/** One element of the list before it gets its texts: the benefit, and the user's relation to it. */
export type Listed = {
  readonly benefit: Benefit
  readonly status: BenefitWithStatus['status']
  readonly route: 'swap' | 'manage' | 'enrol' | 'details'
  readonly swap: Pick<
    BenefitWithStatus,
    'isselectedforswap' | 'swapeffectiveattimestamp' | 'swapexpiresattimestamp'
  >
}

/**
 * The benefits open to a user, each with the user's relation to it (contract §6); `undefined` when the requested offer
 * is not the partner's, or is neither in today's catalogue nor the user's own.
 */
export function listBenefits(reading: ReadState, request: ListedFacts): Listed[] | undefined {
  const { user, terms, now } = reading
  const { age, state, zipcode } = request
  const asking: Terms = { ...terms, asked: { age, state, zipcode } }
  const own = isActive(user) ? offerOf(terms, user) : undefined
  const asked = request.offername ? askedOffer(user, terms, request.offername) : undefined
  if (request.offername && !asked) return undefined
  const alone = asked ?? own
  const offers = alone
    ? [alone]
    : partnerOffers(terms).filter(offer => judgeOfferAt(asking, offer, now).admitted)

  const routes = openRoutes(user, now, asking)
  const listed = new Map<string, Listed>()
  const add = (name: string, offer: Offer) => {
    if (listed.has(name)) return
    const enrolment = heldEnrolment(user, name) ?? enrolmentOf(user, name, isLive)
    const open = openBenefit(terms, name)
    const benefit = enrolment ? knownBenefit(terms, user, name) : open
    const isAdmitted = open !== undefined && judgePick(asking, open, now, offer.offer).admitted
    if (!benefit || !(enrolment || isAdmitted)) return
    listed.set(name, {
      benefit,
      status: enrolment && isInForce(enrolment) ? 'enrolled' : 'notenrolled',
      route: routes(name),
      swap: swapFields(benefit, user, own),
    })
  }
  for (const offer of offers) for (const name of [...offer.fixed, ...offer.selectable]) add(name, offer)
  if (!asked && own)
    for (const enrolment of user.enrolments)
      if (isHeld(enrolment) || isSwappedIn(enrolment)) add(enrolment.benefit, own)
  return [...listed.values()].sort(inOrder).slice(0, MAX_LISTED)
}

/**
 * Until when a list stays the same, if user, catalogue and partner do not change: until the first due change, the end
 * of the day in the partner's zone (offers open and close by the day), or the hour at which swaps are locked, whichever
 * is first.
 */
export function listedUntil({ user, terms, now }: ReadState): Instant {
  const instants = [dueAt(user), startOfDate(addDays(dateAt(now, terms.zone), 1), terms.zone)]
  if (isActive(user)) {
    instants.push(lockedFrom(swapBoundary(user, now, terms), cutoffHours(user, terms)))
  }
  return Math.min(...instants.filter(at => at !== undefined && at > now).map(Number))
}

function askedOffer(user: User, terms: Terms, name: string): Offer | undefined {
  return (
    partnerOffer(terms, name) ??
    (isActive(user) && user.offer?.name === name ? offerOf(terms, user) : undefined)
  )
}

/**
 * A benefit can be swapped if it is selectable in the offer in force, or is part of the pending swap although a newer
 * catalogue has dropped it. The fields show what the swap will do: a pair that can no longer take effect leaves its
 * benefits unchanged.
 */
function swapFields(benefit: Benefit, user: User, own: Offer | undefined): Listed['swap'] {
  const none = { isselectedforswap: null, swapeffectiveattimestamp: null, swapexpiresattimestamp: null }
  if (!own || !user.offer?.inForce) return none
  const picked = pickedForSwap(user, benefit.name)
  if (picked) {
    const at = formatTimestamp(picked.at)
    return picked.goes === 'in'
      ? { ...none, isselectedforswap: true, swapeffectiveattimestamp: at }
      : { ...none, isselectedforswap: true, swapexpiresattimestamp: at }
  }
  return own.selectable.includes(benefit.name) ? { ...none, isselectedforswap: false } : none
}

/** Whether the pending swap will bring or remove a benefit, and when. */
function pickedForSwap(user: User, name: string): { goes: 'in' | 'out'; at: number } | undefined {
  const { swap } = user
  if (!swap) return undefined
  const comes = (benefit: string | undefined) =>
    user.enrolments.some(enrolment => enrolment.benefit === benefit && isSwappedIn(enrolment))
  if (comes(name)) return { goes: 'in', at: swap.at }
  const isNamed = swap.pairs.some(pair => pair.remove === name && (pair.add === undefined || comes(pair.add)))
  const goes = isNamed && heldEnrolment(user, name)?.endsAt === swap.at
  return goes ? { goes: 'out', at: swap.at } : undefined
}

function isSwappedIn(enrolment: Enrolment): boolean {
  return enrolment.pendingBy === 'swap' && isLive(enrolment)
}

/**
 * Returns the route of each benefit's tile (contract §6): the first that applies of swap, manage, enrol, details;
 * without an account, enrol. The functions that will decide about the change decide here too, so that no tile promises
 * a change that would be refused, such as a swap in the locked hours, or a benefit that the user's offer does not have.
 */
function openRoutes(user: User, now: number, terms: Terms): (name: string) => Listed['route'] {
  if (!isActive(user)) return () => 'enrol'
  let swaps: ((name: string) => boolean) | undefined
  const maySwapIn = (name: string) => {
    swaps ??= openSwaps(user, now, terms)
    return swaps(name)
  }
  return name => {
    if (pickedForSwap(user, name)) return 'swap'
    const held = heldEnrolment(user, name)
    if (held && isInForce(held)) return 'manage'
    if (mayEnrol(user, name, now, terms)) return 'enrol'
    return !held && maySwapIn(name) ? 'swap' : 'details'
  }
}

function inOrder(a: Listed, b: Listed): number {
  return (
    a.benefit.sortorder - b.benefit.sortorder ||
    withoutCase.compare(a.benefit.displayname.en, b.benefit.displayname.en) ||
    (a.benefit.name < b.benefit.name ? -1 : 1)
  )
}

const withoutCase = new Intl.Collator('en', { sensitivity: 'base' })

/** An element of the list in the form of the API, with its members in the order of the interface. */
export function viewListed({ benefit, status, route, swap }: Listed, locale: Locale, baseUrl: string) {
  const { name, benefittype } = benefit
  return {
    name,
    displayname: benefit.displayname[locale],
    icon: `${baseUrl}/${iconPathOf(benefit)}`,
    description: benefit.description[locale],
    status,
    benefittype,
    deeplinkdata: `productname=${encodeURIComponent(name)}&producttype=${encodeURIComponent(benefittype)}&redirectto=${route}`,
    isselectedforswap: swap.isselectedforswap,
    swapeffectiveattimestamp: swap.swapeffectiveattimestamp,
    swapexpiresattimestamp: swap.swapexpiresattimestamp,
  } satisfies BenefitWithStatus
}

/**
 * A name for the part of a user's state that decides which benefits are listed, and how: users of one partner with the
 * same name get the same list. `undefined` when the list depends on an instant that hardly two users share: while
 * something is pending, waits for the user, or has not begun. Past instants do not matter, so that members who joined
 * at different times share a list.
 */
export function sharedStateOf(user: User, now: Instant): string | undefined {
  const { status, offer, enrolments } = user
  // Without an account the list shows what anybody could take.
  if (status !== 'active') return enrolments.length === 0 ? '' : undefined
  const isSettled =
    offer?.inForce === true &&
    offer.since <= now &&
    user.pendingOffer === undefined &&
    user.swap === undefined &&
    user.cancel === undefined &&
    enrolments.every(isSettledEnrolment)
  if (!isSettled) return undefined
  // In their order, because of two rows of one benefit the last one counts.
  return JSON.stringify([offer.name, offer.version, offer.admits, ...enrolments.map(partsOf)])
}

function isSettledEnrolment(enrolment: Enrolment): boolean {
  return !isLive(enrolment) || (isInForce(enrolment) && enrolment.pendingBy === undefined)
}

function partsOf(enrolment: Enrolment): unknown[] {
  const { benefit, offer, isFixed, state, version } = enrolment
  const parts = [benefit, offer, isFixed, state, version]
  return isLive(enrolment) ? [...parts, enrolment.endsAt, enrolment.ownEnd?.at] : parts
}
