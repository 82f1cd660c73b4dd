import { type Instant, prefillExpiresAt, type Zone } from '../../calendar/calendar.ts'
import type { Catalogue } from '../../catalogue/model.ts'
import type { RefusedCreate } from '../../membership/records/refused-creates.ts'
import type { Who } from '../../membership/rules/history.ts'
import type { SwapPair, User } from '../../membership/rules/state.ts'
import type { Terms } from '../../membership/rules/terms.ts'
import type { LinkRow } from '../user-data/store.ts'
import { counted, writeDay } from '../views/parts.ts'
import { refusalSentence } from '../views/refused.ts'
import { benefitName, cancelReasonWords, offerName } from '../views/told.ts'
import { viewWords } from './lists.ts'

/** The facts from which the sentence is made. */
export type SentenceFacts = {
  readonly terms: Terms
  /** Who requested the cancel, if history still says so. */
  readonly cancelledBy?: Who | undefined
  /** Only some operators may see reasons. */
  readonly showsReason: boolean
  /** Which of the facts that rules use are unknown. */
  readonly unknown: readonly string[]
  /** What last kept the person from enrolling. */
  readonly cause: Cause | undefined
  /** How many offers the person could take. */
  readonly openOffers: number
}

/** A user's state, as one would say it on the phone. Dates are days in the partner's zone; the last day is included. */
export function describeUser(user: User, facts: SentenceFacts): string {
  const { zone } = facts.terms
  switch (user.status) {
    case 'none':
      return 'Not known any more: the prefill has lapsed.'
    case 'prefilled':
      return `Prefilled on ${writeDay(user.prefillWrittenAt ?? user.createdAt, zone)}, not enrolled: ${shut(facts) ?? 'nobody has chosen an offer yet'}.${lapse(user, zone)}`
    case 'registering':
      return `Not enrolled: ${shut(facts) ?? 'the page was opened and not finished'}.${lapse(user, zone)}`
    case 'active':
      return [held(user, facts), ...pending(user, facts)].join(' ')
    case 'cancelled':
      return `Canceled${cause(user, facts)}. The last day was ${writeDay((user.cancel?.at ?? user.updatedAt) - 1, zone)}.`
    case 'erased':
      return `Erased on ${writeDay(user.erasedAt ?? user.updatedAt, zone)}.`
  }
}

/** Why somebody who has no offer has none: the newest cause, and what would refuse the person today. */
function shut({ unknown, openOffers, cause }: SentenceFacts): string | undefined {
  const isNoneOpen = openOffers === 0 && 'no offer is open to this person'
  const rules = unknown.length > 0 ? `${unknown.join(', ')} not known` : isNoneOpen
  const all = [cause?.words, rules].filter(one => typeof one === 'string')
  return all.length === 0 ? undefined : all.join('; ')
}

function held({ offer }: User, { terms }: SentenceFacts): string {
  if (!offer) return 'Active.'
  const [name, since] = [offerName(terms, offer.name), writeDay(offer.since, terms.zone)]
  return offer.inForce
    ? `Active on ${name} since ${since}.`
    : `Enrolled on ${name}, which starts on ${since}.`
}

function pending(user: User, facts: SentenceFacts): string[] {
  const { terms } = facts
  const { zone } = terms
  return [
    user.pendingOffer &&
      `Moves to ${offerName(terms, user.pendingOffer.name)} on ${writeDay(user.pendingOffer.at, zone)}.`,
    user.swap && `${swapped(user.swap.pairs, { user, terms })} on ${writeDay(user.swap.at, zone)}.`,
    user.cancel && `Leaves on ${writeDay(user.cancel.at - 1, zone)}: canceled${cause(user, facts)}.`,
    user.enrolments.some(({ state }) => state === 'actionrequired') && 'Something is missing.',
  ].filter(sentence => typeof sentence === 'string')
}

function swapped(pairs: readonly SwapPair[], of: Parameters<typeof benefitName>[0]): string {
  const names = pairs.map(({ remove, add }) => {
    if (remove === undefined) return add === undefined ? '' : `gets ${benefitName(of, add)}`
    return add === undefined
      ? `gives up ${benefitName(of, remove)}`
      : `swaps ${benefitName(of, remove)} for ${benefitName(of, add)}`
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
  operatorlink: 'somebody with a link that an operator made',
  schedule: 'the schedule',
}

function lapse(user: User, zone: Zone): string {
  const at =
    user.entryExpiresAt ??
    (user.prefillWrittenAt === undefined ? undefined : prefillExpiresAt(user.prefillWrittenAt))
  return at === undefined ? '' : ` What is known lapses on ${writeDay(at, zone)}.`
}

/** What last kept somebody from enrolling, and whether a new link helps. */
export type Cause = { readonly at: Instant; readonly words: string; readonly wantsLink: boolean }

type CauseFacts = {
  readonly links: readonly LinkRow[]
  readonly refused: readonly RefusedCreate[]
  readonly catalogue: Catalogue
  readonly zone: Zone
  /** The real time: links do not follow the clock of a sandbox. */
  readonly real: Instant
}

/** The newest cause among the person's links and the refused attempts; `undefined` if nothing was ever tried. */
export function newestCause(found: CauseFacts): Cause | undefined {
  const { links, refused, zone, catalogue } = found
  const attempt = refused.at(-1)
  const causes = [
    ...links.map(link => causeOfLink(link, found)),
    attempt && {
      at: attempt.at,
      words: `an attempt to enroll was refused on ${writeDay(attempt.at, zone)}: ${refusalSentence(attempt, catalogue)}`,
      wantsLink: false,
    },
  ]
  return causes.filter(one => one !== undefined).sort((a, b) => b.at - a.at)[0]
}

function causeOfLink(link: LinkRow, { real, zone }: CauseFacts): Cause | undefined {
  const { spent_at, revoked_at, token_expires_at, outcome, birthdate_tries } = link
  if (spent_at === null) {
    if (revoked_at !== null) return undefined
    if (token_expires_at > real)
      return {
        at: link.created_at,
        words: `the link of ${writeDay(link.created_at, zone)} is not opened yet`,
        wantsLink: false,
      }
    return {
      at: token_expires_at,
      words: `the link expired unused on ${writeDay(token_expires_at, zone)}`,
      wantsLink: true,
    }
  }
  const at = link.last_seen_at ?? spent_at
  if (outcome === 'challengefailed')
    return {
      at,
      words: `locked out on ${writeDay(at, zone)} by ${counted(birthdate_tries, 'wrong birth date')}`,
      wantsLink: true,
    }
  if (outcome !== null) return undefined
  const view = viewWords(link.last_view)
  return { at, words: `stopped at ${view} on ${writeDay(at, zone)}`, wantsLink: true }
}
