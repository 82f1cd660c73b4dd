import { boundaryAfter, lockedFrom } from '../calendar/calendar.ts'
import { hasPendingCancel, isLive } from '../membership/state.ts'
import { offerOf } from '../membership/terms.ts'
import { newerThanConfirmed } from './answers.ts'
import { dayOf, enrolmentLine, lastDayOf, linesInForce, liveLines } from './cards.ts'
import { memberPaths } from './member-choices.ts'
import { nameOf } from './session.ts'
import type { Step } from './step.ts'
import { completeSession, type PageOutcome } from './store.ts'
import type { DoneView } from './views/model.ts'
import type { BenefitLine } from './views/parts.ts'
import { pageOf, type Visit, wayBack } from './visit.ts'

/** Notes that the session did something, which a partner may learn by its result token. */
export const noteDone = (visit: Visit, outcome: PageOutcome, reference: string): Promise<void> =>
  completeSession(visit.context.database, nameOf(visit.session), {
    outcome,
    reference,
    at: visit.context.clock.real(),
  })

/** Whether what has this reference took place, as the user's history tells. */
export const wasDoneBy = async (visit: Visit, reference: string): Promise<boolean> =>
  (await visit.context.reader.history({ ...visit, steps: [] })).some(line => line.why.includes(reference))

/** What the session did last, with its reference and dates. */
export const done: Step = {
  show: visit => {
    const { session, person } = visit
    const { outcome, reference, completed_at: completedAt } = session
    if (outcome === null || reference === null || completedAt === null) return { to: '' }
    return {
      view: 'DONE',
      page: pageOf(visit),
      outcome,
      reference,
      completedat: completedAt,
      ...(person.firstname === undefined ? {} : { firstname: person.firstname }),
      ...doneDates(visit, outcome),
      ...wayBack(visit),
    }
  },
}

/** What a confirmation says of benefits and days, from the user as they are now. */
const doneDates = (
  visit: Visit,
  outcome: PageOutcome,
): Pick<DoneView, 'benefits' | 'effectiveon' | 'undountil'> => {
  const { user, terms, partner } = visit
  const cutoff = offerOf(terms, user)?.cutoffhours ?? 24
  const until = (at: number) => {
    const lockedAt = lockedFrom(at, cutoff)
    return { effectiveon: dayOf(visit, at), ...(lockedAt > visit.now ? { undountil: lockedAt } : {}) }
  }
  if (outcome === 'swapped' && user.swap) return { benefits: swapLines(visit), ...until(user.swap.at) }
  if (outcome === 'changed' && user.pendingOffer)
    return { benefits: liveLines(visit), ...until(user.pendingOffer.at) }
  if (outcome === 'cancelled' && hasPendingCancel(user)) {
    const at = user.cancel?.at ?? boundaryAfter(visit.now, partner.timezone)
    return { benefits: linesInForce(visit), undountil: at }
  }
  if (outcome === 'cancelled') return { benefits: endedLines(visit) }
  return { benefits: liveLines(visit) }
}

/** What a pending swap takes and brings. */
const swapLines = (visit: Visit): BenefitLine[] => {
  const names = new Set(visit.user.swap?.pairs.flatMap(pair => [pair.add, pair.remove]))
  return visit.user.enrolments
    .filter(enrolment => isLive(enrolment) && names.has(enrolment.benefit))
    .map(enrolment => enrolmentLine(visit, enrolment))
}

const endedLines = (visit: Visit): BenefitLine[] =>
  visit.user.enrolments
    .filter(({ endsAt, closeReason }) => closeReason === 'cancelled' && endsAt === visit.user.cancel?.at)
    .map(enrolment => ({
      ...enrolmentLine(visit, enrolment),
      endson: lastDayOf(visit, enrolment.endsAt ?? visit.now),
    }))

/** A line that tells since when there is cover, where it has begun. */
const begunLine = (visit: Visit, { startson, ...line }: BenefitLine): BenefitLine => {
  if (startson === undefined) return line
  return startson <= visit.today ? { ...line, since: startson } : { ...line, startson }
}

/** What a member has, and what they can do with it. */
export const overview: Step = {
  show: visit => {
    const offer = offerOf(visit.terms, visit.user)
    if (!visit.isMember || !offer) return { to: '' }
    return {
      view: 'ALREADY_ENROLLED',
      page: pageOf(visit),
      offername: offer.displayname[visit.locale],
      benefits: liveLines(visit).map(line => begunLine(visit, line)),
      suggested: newerThanConfirmed(visit.sent, visit.person),
      paths: memberPaths(visit),
      ...wayBack(visit),
    }
  },
}
