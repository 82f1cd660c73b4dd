import type { CreateUser } from '@benefit-enrolment/contract'
import { effectiveInstant, type Instant } from '../calendar/calendar.ts'
import type { Offer } from '../catalogue/model.ts'
import type { CommandContext } from '../membership/command.ts'
import { consentNames, refuseUnknown } from '../membership/requests/given.ts'
import { isRefusal, type Refusal, refuse, refuseField, unknownOffer } from '../membership/rules/refusal.ts'
import { partnerOffer, partnerOffers, type Terms } from '../membership/rules/terms.ts'
import type { Partner } from '../partners/partner.ts'

/** The offer and the start that a request asks for. Refuses unknown names, and a date that is not valid. */
export function readCreate(
  body: CreateUser,
  partner: Partner,
  commandContext: CommandContext,
): { offer: Offer; startsAt: Instant } | Refusal {
  const terms = commandContext.terms()
  const offer = readOffer(body.offername, terms)
  if (isRefusal(offer)) return offer
  const picks = (body.benefits ?? []).map((name, index) => ({ field: `benefits[${index}]`, name }))
  const covering = (body.dependants ?? []).flatMap(({ benefits = [] }, index) =>
    benefits.map(({ name }, nth) => ({ field: `dependants[${index}].benefits[${nth}].name`, name })),
  )
  const named = [...picks, ...consentNames(body.consents), ...covering]
  const unknown = refuseUnknown(named, { user: commandContext.member?.user, terms })
  if (unknown) return unknown
  const effective = effectiveInstant(body.effectivedate || undefined, commandContext.now, partner.timezone)
  if (!effective.ok)
    return refuseField('effectivedate', effective.reason, 'must be a date from today to 90 days ahead')
  return { offer, startsAt: effective.at }
}

function readOffer(name: string | undefined, terms: Terms): Offer | Refusal {
  const offer = name ? partnerOffer(terms, name) : undefined
  if (offer) return offer
  if (name) return unknownOffer
  const [only, another] = partnerOffers(terms)
  if (!only) return refuse('offer_not_available')
  return another === undefined
    ? only
    : refuseField('offername', 'required', 'must be the name of one of your offers', 'offername_required')
}
