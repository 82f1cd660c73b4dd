import { lockedFrom } from '../../calendar/calendar.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { isBoundaryLocked, nextBoundary } from '../../membership/rules/boundary.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { hasPendingCancel, heldEnrolment, type User } from '../../membership/rules/state.ts'
import {
  displayNameOf,
  knownBenefit,
  offerOf,
  openBenefit,
  type Terms,
} from '../../membership/rules/terms.ts'
import { changeOfferOf, type OfferChange, undoOfferChangeOf } from '../../offers/change.ts'
import { checkPreview, makePreview } from '../../offers/preview.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { checkConsents, parseOffer } from '../views/choices.ts'
import { isFaulty } from '../views/faults.ts'
import type { BenefitLine, OfferChoice } from '../views/parts.ts'
import { consentsFor, isOfRecords, withAgreed } from './agreements.ts'
import { comingBySwap, foreseenLine, visitAfter } from './ahead.ts'
import { dayOf, lastDayOf, leavingOn, lineOf, standingLine } from './cards.ts'
import type { OwnChange } from './change-own.ts'
import { namingFirst, namingLines } from './naming.ts'
import { offerChoices, openOffers } from './offer-choices.ts'
import { changeAndConfirm, confirmMade } from './outcomes.ts'
import { plannedOffer } from './planned-offer.ts'
import { confirmsOlder } from './save-answers.ts'
import type { Step } from './step.ts'

/** The offers to move to, with the one in force and the pending change. */
export const offer: Step = {
  show: (visit, typed) => {
    const { user, terms, now } = visit
    const current = offerOf(terms, user)
    if (!visit.isMember || !current) return { to: 'overview' }
    const boundary = nextBoundary(user, now, terms)
    const wanted = visit.session.offername ?? undefined
    const chosen = typed.posted ? (typed.posted.get('offername') ?? '') : wanted
    return {
      view: 'OFFER_CHANGE',
      page: pageOf(visit),
      offers: offerChoices(visit).map(choice => withOutlook(visit, choice)),
      chosen,
      pending: plannedOffer(visit),
      locked: isBoundaryLocked(user, boundary, { now, terms }),
      opensagainon: dayOf(visit, boundary),
      leaving: leavingOn(visit),
    }
  },
  post: (visit, form) => {
    if (!visit.isMember) return { to: 'overview' }
    if (hasPendingCancel(visit.user)) return { to: 'offer' }
    const chosen = parseOffer(
      form,
      openOffers(visit).map(one => one.offer),
    )
    return isFaulty(chosen) ? chosen : { to: addressOf(chosen) }
  },
}

/** What a change gives, takes and keeps, before it is made. */
export const offerConfirm: Step = {
  show: (visit, typed) => {
    const found = proposed(visit, typed.form)
    const current = offerOf(visit.terms, visit.user)
    if (!found || !current) return { to: 'offer' }
    const { changed, choice, gained, next } = found
    const unnamed = namingFirst(visit, gained, next)
    if (unnamed) return unnamed
    const dropsSwap = visit.user.swap !== undefined && changed.user.swap === undefined
    const after = visitAfter(visit, changed)
    return {
      view: 'OFFER_CONFIRM',
      page: pageOf(visit),
      from: current.displayname[visit.locale],
      to: choice,
      previewid: makePreview(found.previewed).previewid,
      gained: gained.map(benefit =>
        foreseenLine(visit, after, benefit, changed.effectiveAt, changed.effectiveAt),
      ),
      lost: lostLines(visit, changed),
      kept: heldLines(after, changed.kept),
      swapped: comingBySwap(after),
      dropsswap: dropsSwap,
      undountil: changed.isImmediate ? undefined : lockedFrom(changed.effectiveAt, current.cutoffhours),
      naming: namingLines(visit, gained, next),
      consents: consentsFor(visit, gained, typed.posted),
    }
  },
  post: async (visit, form) => {
    if (isMade(visit, form.get('offername') ?? '')) return confirmMade(visit, 'changed')
    const found = proposed(visit, form)
    if (!found) return 'conflict'
    const { choice, gained, next, previewed } = found
    const unnamed = namingFirst(visit, gained, next)
    if (unnamed) return unnamed
    const isPreviewed = checkPreview(form.get('previewid') ?? '', previewed)
    if (!isPreviewed || confirmsOlder(visit, form)) return 'conflict'
    const agreements = consentsFor(visit, gained)
    const refused = checkConsents(form, agreements, 'confirm', name =>
      isOfRecords(name) ? undefined : 'keepplan',
    )
    if (refused) return refused
    const { offer, displayname: offername } = choice
    const decide: OwnChange['decide'] = ({ user, now, terms }) => {
      if (user.offer?.name === offer || isPlannedSo(user, offer, { now, terms: terms() })) return 'unchanged'
      return changeOfferOf(withAgreed(user, visit, agreements), inputFor(offer), now, terms())
    }
    const change = { why: 'offer change', form, agreements, offername, decide }
    return changeAndConfirm(visit, 'changed', change, 'conflict')
  },
}

/** Undoes a pending change. */
export const offerUndo: Step = {
  show: () => ({ to: 'offer' }),
  post: (visit, form) =>
    changeAndConfirm(
      visit,
      'undone',
      {
        why: 'offer change undone',
        form,
        decide: ({ user, now, terms }) =>
          user.pendingOffer ? undoOfferChangeOf(user, now, terms()) : 'unchanged',
      },
      'conflict',
    ),
}

/** The offer with what would change by it, if the person can change to it. */
function withOutlook(visit: Visit, choice: OfferChoice): OfferChoice {
  const found = proposed(visit, new URLSearchParams({ offername: choice.offer }))
  if (!found) return choice
  const { changed } = found
  const names = (from: readonly string[]) =>
    from.map(name => displayNameOf(visit.terms, changed.user, name, visit.locale))
  const after = visitAfter(visit, changed)
  const outlook = {
    gained: names(changed.gained),
    lost: names(changed.lost),
    kept: names(changed.kept),
    benefits: [...linesOf(visit, found.gained), ...heldLines(after, changed.kept), ...comingBySwap(after)],
  }
  return { ...choice, outlook }
}

function linesOf(visit: Visit, benefits: readonly Benefit[]): BenefitLine[] {
  return benefits.map(benefit => lineOf(visit, benefit, visit.now))
}

function inputFor(offername: string) {
  return { offername, action: 'auto', effective: 'auto' } as const
}

/**
 * The change that a form or an address asks for, tried out, with the benefits that it brings and the address of its
 * confirmation; `undefined` when it is not open.
 */
function proposed(visit: Visit, form: URLSearchParams) {
  const { partner, user, terms } = visit
  if (!visit.isMember || hasPendingCancel(user)) return undefined
  const choice = openOffers(visit).find(({ offer }) => offer === form.get('offername'))
  if (!choice) return undefined
  const input = inputFor(choice.offer)
  const changed = changeOfferOf(user, input, visit.now, terms)
  if (isRefusal(changed)) return undefined
  return {
    changed,
    choice,
    gained: changed.gained.flatMap(name => openBenefit(terms, name) ?? []),
    next: addressOf(choice.offer),
    previewed: { partner, user, input, now: visit.context.clock.real(), changed },
  }
}

/** Whether exactly what the person asks for was done or planned before: the form was sent a second time. */
function isMade({ user, session, now, terms }: Visit, offername: string): boolean {
  return (
    isPlannedSo(user, offername, { now, terms }) ||
    (session.outcome === 'changed' && user.offer?.name === offername)
  )
}

/**
 * Whether exactly this change is planned. An upgrade that the partner planned for a later day is another change: the person
 * asks for it now.
 */
function isPlannedSo(user: User, offername: string, { now, terms }: { now: number; terms: Terms }): boolean {
  if (user.pendingOffer?.name !== offername) return false
  const again = changeOfferOf(user, inputFor(offername), now, terms)
  return isRefusal(again) || again.user === user
}

function heldLines(visit: Visit, names: readonly string[]): BenefitLine[] {
  return names.flatMap(name => {
    const held = heldEnrolment(visit.user, name)
    return held && knownBenefit(visit.terms, visit.user, name) ? [standingLine(visit, held)] : []
  })
}

/**
 * Lost benefits with their last day (today if they end at once); a benefit that will not have started by then has none. A
 * benefit that still waits for the person can only start before the change.
 */
function lostLines(visit: Visit, changed: OfferChange): BenefitLine[] {
  const isNow = changed.effectiveAt <= visit.now
  const endson = isNow ? visit.today : lastDayOf(visit, changed.effectiveAt)
  const on = dayOf(visit, changed.effectiveAt)
  return heldLines(visit, changed.lost).map(({ since, startson, ...line }) => {
    if (line.actionrequired && isNow) return { ...line, actionrequired: false }
    if (line.actionrequired) return { ...line, dueon: line.dueon && line.dueon < on ? line.dueon : on }
    if (startson !== undefined)
      return startson <= endson ? { ...line, startson, endson } : { ...line, endson: undefined }
    return since === undefined && line.endson === undefined ? line : { ...line, endson }
  })
}

function addressOf(offername: string): string {
  return `offer/confirm?${new URLSearchParams({ offername })}`
}
