import type { Instant } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import type { Move } from '../../membership/rules/history.ts'
import type { SwapPair, User } from '../../membership/rules/state.ts'
import { displayNameOf, type Terms } from '../../membership/rules/terms.ts'
import { when } from './parts.ts'

/** Whose change it is: the source of the names of benefits and offers. */
export type Of = { readonly user: User; readonly terms: Terms }

/** The states whose names are not plain words already. */
const STATES: Readonly<Record<string, string>> = {
  enrolled: 'in force',
  endscheduled: 'in force, ends',
  scheduled: 'starts later',
  actionrequired: 'something missing',
  selected: 'picked',
  void: 'taken back as a mistake',
}

/** The statuses of a user whose names are not plain words already. */
export const STATUSES: Readonly<Record<string, string>> = {
  none: 'not known',
  cancelled: 'canceled',
  registering: 'on the registration page',
}

/** A benefit by the name that the catalogue shows to this user. */
export function benefitName({ terms, user }: Of, name: string): string {
  return displayNameOf(terms, user, name, 'en')
}

/** An offer by the name that the catalogue shows today, or by that of the API where it is no longer there. */
export function offerName(terms: Terms, name: string): string {
  return terms.today.catalogue.offers.get(name)?.displayname.en ?? name
}

/** The reason of a cancel in words; the API writes each as one. */
export function cancelReasonWords(reason: string): string {
  return REASONS[reason] ?? reason
}

const REASONS: Readonly<Record<string, string>> = {
  voluntary: 'own wish',
  employmentended: 'employment ended',
}

/** Why an enrollment is over, in words. */
export function endReasonWords(reason: string): string {
  return END_REASONS[reason] ?? reason
}

const END_REASONS: Readonly<Record<string, string>> = {
  endsatage: 'ends at this age',
  ineligible: 'no longer admitted',
  cancelled: 'canceled',
}

/** A state of an enrollment in words. */
export function stateWords(state: string): string {
  return STATES[state] ?? state
}

/** A line of the history in words: what changed, from what to what, with the names that the catalogue shows. */
export function moveWords(move: Move, of: Of): Slot {
  const { subject, from, to } = partsOf(move, of)
  if (from === undefined) return html`<strong>${subject}</strong> ${to}`
  if (to === undefined) return html`<strong>${subject}</strong> ${move.what !== 'prefill' && from} taken away`
  return html`<strong>${subject}</strong> ${from} → ${to}`
}

type Parts = { readonly subject: string; readonly from?: Slot; readonly to?: Slot }

function partsOf(move: Move, of: Of): Parts {
  const benefit = (name: string) => benefitName(of, name)
  const date = (at: Instant) => when(at, of.terms.zone)
  const subject = capital(move.what)
  switch (move.what) {
    case 'user':
      return words('Status', move, status => STATUSES[status] ?? status)
    case 'prefill':
      return words(subject, move, text => text)
    case 'offer':
    case 'offer to start':
    case 'pending offer':
      return words(subject, move, name => offerName(of.terms, name))
    case 'swap':
      return words(subject, move, pairs => swapWords(pairs, benefit))
    case 'pending cancel':
      return words(subject, move, date)
    case 'benefit':
      return words(benefit(move.benefit), move, stateWords)
    case 'planned end':
    case 'start':
    case 'end':
      return words(`${subject} of ${benefit(move.benefit)}`, move, date)
    case 'beneficiaries':
      return words(`${subject} of ${benefit(move.benefit)} ${move.version}`, move, status => status)
    case 'consent':
      return words(`${subject} to ${benefit(move.name)}`, move, version => `${version} by ${move.channel}`)
  }
}

function words<Value>(
  subject: string,
  { from, to }: { readonly from?: Value | undefined; readonly to?: Value | undefined },
  wordsOf: (value: Value) => Slot,
): Parts {
  return {
    subject,
    ...(from !== undefined && { from: wordsOf(from) }),
    ...(to !== undefined && { to: wordsOf(to) }),
  }
}

/** The pairs of a swap in words. */
export function swapWords(pairs: readonly SwapPair[], benefit: (name: string) => string): string {
  return pairs
    .map(({ remove, add }) =>
      remove === undefined
        ? `${benefit(add ?? '')} for a free place`
        : `${benefit(remove)} for ${add === undefined ? 'nothing' : benefit(add)}`,
    )
    .join(', ')
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
