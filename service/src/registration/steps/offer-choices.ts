import { isBoundaryLocked, nextBoundary } from '../../membership/rules/boundary.ts'
import { isAvailable, judgeOfferAt, offerOf, partnerOffers } from '../../membership/rules/terms.ts'
import type { Visit } from '../session/visit.ts'
import type { OfferChoice } from '../views/parts.ts'
import { textsOf } from '../views/texts.ts'
import { dayOf, startsFrom } from './cards.ts'

/** The offers that the page shows to a member: the one in force, and whether and when each other can follow it. */
export function offerChoices(visit: Visit): OfferChoice[] {
  const { user, terms, now, locale } = visit
  const current = offerOf(terms, user)
  return partnerOffers(terms).map((one): OfferChoice => {
    const displayname = one.displayname[locale]
    if (one.offer === current?.offer)
      return { offer: one.offer, displayname, direction: 'current', reasons: [] }
    const isUpgrade = one.rank > (current?.rank ?? 0)
    const at = isUpgrade ? startsFrom(visit) : nextBoundary(user, now, terms)
    const verdict = judgeOfferAt(terms, one, at)
    const isLocked = !isUpgrade && isBoundaryLocked(user, at, { now, terms })
    const isClosed = verdict.admitted && !isAvailable(terms, one, at)
    return {
      offer: one.offer,
      displayname,
      direction: isUpgrade ? 'upgrade' : 'downgrade',
      effectiveon: dayOf(visit, at),
      reasons: [
        ...verdict.reasons.map(reason => reason.text[locale]),
        ...(isLocked ? [`${textsOf(visit).offer.locked}.`] : []),
        ...(isClosed ? [textsOf(visit).offer.closed] : []),
      ],
    }
  })
}

/** The offers that a member can change to. */
export function openOffers(visit: Visit): OfferChoice[] {
  return offerChoices(visit).filter(
    ({ direction, reasons }) => direction !== 'current' && reasons.length === 0,
  )
}
