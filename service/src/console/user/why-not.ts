import { dateAt } from '../../calendar/calendar.ts'
import { judgeBenefit, judgeOffer, type RuleResult } from '../../catalogue/eligibility.ts'
import type { Offer } from '../../catalogue/model.ts'
import { isHeld, type User } from '../../membership/rules/state.ts'
import { factsAt, offerOf, partnerOffers, slotsTaken, type Terms } from '../../membership/rules/terms.ts'

/** A benefit or an offer, with the reasons why the user does not have it; without a reason it is open. */
export type Standing = {
  readonly kind: 'benefit' | 'offer'
  readonly name: string
  readonly displayname: string
  readonly isHeld: boolean
  readonly against: readonly Objection[]
}

/** One rule that refuses, and the data of the person that it used, if it used any. */
export type Objection = {
  readonly code: string
  readonly why: string
  readonly looked?: string | undefined
}

type Now = { readonly user: User; readonly terms: Terms; readonly now: number }

/**
 * For each benefit of the catalogue and each offer, whether the user has it, could take it, or which rules refuse it.
 * Unless birth date, state and ZIP code are all known, no rule about the person is tried, and the result says so.
 */
export function standings(of: Now): Standing[] {
  const { catalogue } = of.terms.today
  const benefits = [...catalogue.benefits.values()].sort((a, b) => a.sortorder - b.sortorder)
  const offers = [...catalogue.offers.values()].sort((a, b) => a.rank - b.rank)
  return [
    ...offers.map(offer => standingOfOffer(offer, of)),
    ...benefits.map((benefit): Standing => {
      const held = of.user.enrolments.some(one => one.benefit === benefit.name && isHeld(one))
      return {
        kind: 'benefit',
        name: benefit.name,
        displayname: benefit.displayname.en,
        isHeld: held,
        against: held ? [] : againstBenefit(benefit.name, of),
      }
    }),
  ]
}

function standingOfOffer(offer: Offer, { user, terms, now }: Now): Standing {
  const isOwn = user.status === 'active' && user.offer?.name === offer.offer
  const isPartners = partnerOffers(terms).some(one => one.offer === offer.offer)
  const against: Objection[] = []
  if (!isOwn && !isPartners)
    against.push({ code: 'not_offered', why: 'the partner does not give this offer' })
  if (!isOwn && isPartners && user.pendingOffer?.name === offer.offer)
    against.push({ code: 'pending', why: 'the move to it is pending already' })
  if (!isOwn && isPartners) {
    const date = dateAt(now, terms.zone)
    if (terms.residence())
      against.push(...failed(judgeOffer(offer, factsAt(terms, now, offer.offer), date).trace, { terms, now }))
    else against.push(UNKNOWN)
  }
  return { kind: 'offer', name: offer.offer, displayname: offer.displayname.en, isHeld: isOwn, against }
}

function againstBenefit(name: string, { user, terms, now }: Now): Objection[] {
  if (user.status !== 'active')
    return [{ code: 'no_account', why: 'only who is active on an offer holds benefits' }]
  const offer = offerOf(terms, user)
  const benefit = terms.today.catalogue.benefits.get(name)
  if (!offer || !benefit) return []
  const isPart = offer.fixed.includes(name) || offer.selectable.includes(name)
  if (!isPart)
    return [{ code: 'not_of_the_offer', why: `the offer ${offer.displayname.en} does not have it` }]
  const against: Objection[] = []
  if (!terms.residence()) against.push(UNKNOWN)
  else {
    against.push(...failed(judgeBenefit(benefit, factsAt(terms, now, offer.offer)).trace, { terms, now }))
  }
  const taken = slotsTaken(user)
  if (offer.selectable.includes(name) && taken >= offer.slots)
    against.push({ code: 'no_free_slot', why: `${taken} of ${offer.slots} slots are taken` })
  return against
}

const UNKNOWN: Objection = {
  code: 'not_tried',
  why: 'birth date, state and ZIP code are not all known, so no rule was tried',
}

function failed(trace: readonly RuleResult[], { terms, now }: Pick<Now, 'terms' | 'now'>): Objection[] {
  return trace
    .filter(result => !result.passed)
    .map(result => ({ code: result.code, why: result.why, looked: lookedAt(result, { terms, now }) }))
}

/** The data of the person that a rule used. */
function lookedAt({ kind }: RuleResult, { terms, now }: Pick<Now, 'terms' | 'now'>): string | undefined {
  const facts = factsAt(terms, now, undefined)
  if (kind === 'age') return `age ${facts.age}`
  if (kind === 'states') return `state ${facts.state}`
  if (kind === 'zips') return `ZIP code ${facts.zipcode}`
  return undefined
}
