import type { Locale } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import { factClassesOf } from '../catalogue/fact-classes.ts'
import type { Reading } from '../membership/reading/reader.ts'
import type { UserMemory } from '../membership/reading/user-memory.ts'
import { type Refusal, unknownOffer } from '../membership/rules/refusal.ts'
import { type Enrolment, isInForce, isLive, type User } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import { type ListedFacts, listBenefits, listedUntil, viewListed } from './listing.ts'

/** The list of benefits as JSON. Refuses an offer that the user cannot ask for. */
type ListJson = (
  reading: Reading,
  asked: ListedFacts,
  by: { partner: Partner; locale: Locale },
) => Buffer | Refusal

/**
 * Makes lists, and repeats an earlier one wherever it would be the same: first an answer to this user, then an answer
 * to any user of the partner in the same state. Without the second a user’s first list costs 27 % more processor time
 * (2026-11-28).
 * Lists are kept as bytes: a text would be copied and encoded for each answer.
 */
export function openLists({
  memory,
  baseUrl,
}: {
  memory: Pick<UserMemory, 'shared' | 'noteAnswer'>
  baseUrl: () => string
}): ListJson {
  return (reading, asked, { partner, locale }) => {
    const { user, terms, now, answers } = reading
    const { version, catalogue } = terms.today
    const from = { partner, catalogue: version, now }
    // No other field of the request decides what is listed. The offer's name comes last, because it may contain
    // anything.
    const question = `${locale} ${factClassesOf(catalogue)(asked)} ${asked.offername ?? ''}`
    const own = answers?.find(question, from)
    if (own !== undefined) {
      memory.noteAnswer(true)
      return own
    }
    const state = sharedStateOf(user, now)
    const shared = state === undefined ? undefined : `${partner.partnerId} ${state} ${question}`
    const found = shared === undefined ? undefined : memory.shared.find(shared, from)
    memory.noteAnswer(found !== undefined)
    if (found !== undefined && answers === undefined) return found
    const json = found ?? listed(reading, asked, locale)
    if (json === undefined) return unknownOffer
    const answer = { json, until: listedUntil(reading) }
    if (found === undefined && shared !== undefined) memory.shared.keep(shared, from, answer)
    answers?.keep(question, from, answer)
    return answer.json
  }

  function listed(reading: Reading, asked: ListedFacts, locale: Locale): Buffer | undefined {
    const benefits = listBenefits(reading, asked)
    return benefits && bytesOf(JSON.stringify(benefits.map(one => viewListed(one, locale, baseUrl()))))
  }
}

/** Bytes in memory of their own. `Buffer.from` would put short ones into a block that all of them keep alive. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
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
