import { type Instant, prefillExpiresAt, type Zone } from '../../calendar/calendar.ts'
import type { Who } from '../../membership/rules/history.ts'
import type { SwapPair, User } from '../../membership/rules/state.ts'
import { cancelReasonWords } from '../views/moves.ts'
import { writeDay } from '../views/parts.ts'

/** The facts from which the sentence is made. */
export type SentenceFacts = {
  readonly zone: Zone
  /** Who requested the cancel, if history still says so. */
  readonly cancelledBy?: Who | undefined
  /** Only some operators may see reasons. */
  readonly showsReason: boolean
  readonly offerName: (name: string) => string
  readonly benefitName: (name: string) => string
  /** Which of the facts that rules use are unknown. */
  readonly unknown: readonly string[]
  /** When the last attempt to enroll the person was refused, if one was. */
  readonly refusedAt: Instant | undefined
  /** How many offers the person could take. */
  readonly openOffers: number
}

/** A user's state, as one would say it on the phone. Dates are days in the partner's zone; the last day is included. */
export function describeUser(user: User, facts: SentenceFacts): string {
  const { zone } = facts
  switch (user.status) {
    case 'none':
      return 'Not known any more: the prefill has lapsed.'
    case 'prefilled':
      return `Prefilled on ${writeDay(user.prefillWrittenAt ?? user.createdAt, zone)}, not enrolled: ${shut(facts) ?? 'nobody has chosen an offer yet'}.${lapse(user, zone)}`
    case 'registering':
      return `Not enrolled: ${shut(facts) ?? 'the registration page was opened and not finished'}.${lapse(user, zone)}`
    case 'active':
      return [held(user, facts), ...pending(user, facts)].join(' ')
    case 'cancelled':
      return `Canceled since ${writeDay(user.cancel?.at ?? user.updatedAt, zone)}${cause(user, facts)}.`
    case 'erased':
      return `Erased on ${writeDay(user.erasedAt ?? user.updatedAt, zone)}.`
  }
}

/** Why somebody who has no offer has none, as far as that is known. */
function shut({ unknown, openOffers, refusedAt, zone }: SentenceFacts): string | undefined {
  const attempt = refusedAt !== undefined && `the last attempt, on ${writeDay(refusedAt, zone)}, was refused`
  const isNoneOpen = openOffers === 0 && 'no offer is open to this person'
  const rules = unknown.length > 0 ? `${unknown.join(', ')} not known` : isNoneOpen
  const all = [attempt, rules].filter(one => one !== false)
  return all.length === 0 ? undefined : all.join('; ')
}

function held({ offer }: User, { zone, offerName }: SentenceFacts): string {
  if (!offer) return 'Active.'
  if (offer.inForce) return `Active on ${offerName(offer.name)} since ${writeDay(offer.since, zone)}.`
  return `Enrolled on ${offerName(offer.name)}, which starts on ${writeDay(offer.since, zone)}.`
}

function pending(user: User, facts: SentenceFacts): string[] {
  const { zone, offerName } = facts
  return [
    user.pendingOffer &&
      `Moves to ${offerName(user.pendingOffer.name)} on ${writeDay(user.pendingOffer.at, zone)}.`,
    user.swap && `${swapped(user.swap.pairs, facts)} on ${writeDay(user.swap.at, zone)}.`,
    user.cancel && `Leaves on ${writeDay(user.cancel.at - 1, zone)}: canceled${cause(user, facts)}.`,
    user.enrolments.some(({ state }) => state === 'actionrequired') && 'Something is missing.',
  ].filter(sentence => typeof sentence === 'string')
}

function swapped(pairs: readonly SwapPair[], { benefitName }: SentenceFacts): string {
  const names = pairs.map(({ remove, add }) => {
    if (remove === undefined) return add === undefined ? '' : `gets ${benefitName(add)}`
    return add === undefined
      ? `gives up ${benefitName(remove)}`
      : `swaps ${benefitName(remove)} for ${benefitName(add)}`
  })
  const text = names.filter(name => name !== '').join(', ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Who did it, and the reason if it may be shown. */
function cause({ cancel }: User, { cancelledBy, showsReason }: SentenceFacts): string {
  const by = cancelledBy === undefined ? '' : ` by ${WHO[cancelledBy]}`
  return cancel && showsReason ? `${by}, reason ${cancelReasonWords(cancel.reason)}` : by
}

const WHO: Readonly<Record<Who, string>> = {
  partner: 'the partner',
  user: 'the user',
  operator: 'an operator',
  schedule: 'the schedule',
}

function lapse(user: User, zone: Zone): string {
  const at =
    user.entryExpiresAt ??
    (user.prefillWrittenAt === undefined ? undefined : prefillExpiresAt(user.prefillWrittenAt))
  return at === undefined ? '' : ` What is known lapses on ${writeDay(at, zone)}.`
}
