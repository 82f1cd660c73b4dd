import { lockedFrom } from '../calendar/calendar.ts'
import { isBoundaryLocked, nextBoundary } from '../membership/boundary.ts'
import { mergeConsents } from '../membership/enrolments.ts'
import { isRefusal, refuse } from '../membership/refusal.ts'
import { type Consent, heldEnrolment, isActive } from '../membership/state.ts'
import {
  isAvailable,
  judgeOfferAt,
  knownBenefit,
  offerOf,
  openBenefit,
  partnerOffers,
} from '../membership/terms.ts'
import { changeOfferOf, type OfferChange, undoOfferChangeOf } from '../offers/change.ts'
import { checkPreview, makePreview } from '../offers/preview.ts'
import { consentsFor, dayOf, enrolmentLine, lineOf } from './cards.ts'
import { noteDone } from './outcomes.ts'
import { referenceOf } from './reference.ts'
import type { Posted, Step } from './step.ts'
import { parseConsents, parseOffer } from './views/choices.ts'
import type { BenefitLine, OfferChoice } from './views/parts.ts'
import { textsOf } from './views/texts.ts'
import { pageOf, type Visit } from './visit.ts'

/** The offers to move to, with the one in force and the change that is pending. */
export const offer: Step = {
  show: (visit, typed) => {
    const { user, terms, now } = visit
    const current = offerOf(terms, user)
    if (!visit.isMember || !current) return { to: 'overview' }
    const boundary = nextBoundary(user, now, terms)
    const pending = user.pendingOffer
    const wanted = visit.session.offername ?? undefined
    const chosen = typed.isPosted ? (typed.form.get('offername') ?? '') : wanted
    return {
      view: 'OFFER_CHANGE',
      page: pageOf(visit),
      offers: choicesOf(visit),
      ...(chosen === undefined ? {} : { chosen }),
      ...(pending
        ? {
            pending: {
              displayname:
                terms.today.catalogue.offers.get(pending.name)?.displayname[visit.locale] ?? pending.name,
              effectiveon: dayOf(visit, pending.at),
            },
          }
        : {}),
      locked: isBoundaryLocked(user, boundary, { now, terms }),
      lockedat: lockedFrom(boundary, current.cutoffhours),
    }
  },
  post: (visit, form) => {
    const parsed = parseOffer(form, openOffers(visit))
    if (!parsed.ok) return { errors: parsed.errors }
    return { to: `offer/confirm?${new URLSearchParams({ offername: parsed.values })}` }
  },
}

/** What a change gives, takes and leaves, before it is made. */
export const offerConfirm: Step = {
  show: (visit, typed) => {
    const found = proposed(visit, typed.form)
    const current = offerOf(visit.terms, visit.user)
    if (!found || !current) return { to: 'offer' }
    const { changed, choice } = found
    const preview = makePreview({ ...previewed(visit, choice.offer), changed })
    return {
      view: 'OFFER_CONFIRM',
      page: pageOf(visit),
      from: current.displayname[visit.locale],
      to: choice,
      previewid: preview.previewid,
      gained: linesOf(visit, changed, changed.gained),
      lost: heldLines(visit, changed.lost),
      kept: heldLines(visit, changed.kept),
      ...(changed.isImmediate ? {} : { undountil: lockedFrom(changed.effectiveAt, current.cutoffhours) }),
      consents: consentsOf(visit, changed, typed.isPosted ? typed.form : undefined),
    }
  },
  post: async (visit, form) => {
    if (isMade(visit, form.get('offername') ?? '')) return confirmed(visit)
    const found = proposed(visit, form)
    if (!found) return { to: 'offer' }
    const { changed, choice } = found
    if (!checkPreview(form.get('previewid') ?? '', { ...previewed(visit, choice.offer), changed }))
      return 'conflict'
    const agreed = parseConsents(form, consentsOf(visit, changed, undefined))
    if (!agreed.ok) return { errors: agreed.errors }
    const consents = agreed.values.map(consent => ({ ...consent, agreedAt: visit.now, locale: visit.locale }))
    return changeNow(visit, choice.offer, consents)
  },
}

/** Takes a pending change back. */
export const offerUndo: Step = {
  show: () => ({ to: 'offer' }),
  post: async visit => {
    const reference = referenceOf(visit.session.session_id, 'undone')
    const outcome = await visit.context.ledger.submit({
      partner: visit.partner,
      userid: visit.user.userid,
      who: 'user',
      why: `offer change undone ${reference}`,
      decide: ({ member, now, terms }) => {
        if (member?.user.serviceId !== visit.user.serviceId || !isActive(member.user))
          return refuse('user_not_found')
        if (!member.user.pendingOffer) return { answer: () => undefined }
        const undone = undoOfferChangeOf(member.user, now, terms())
        return isRefusal(undone) ? undone : { change: undone, answer: () => undefined }
      },
    })
    if (isRefusal(outcome)) return outcome.refused === 'user_not_found' ? 'gone' : { to: 'offer' }
    await noteDone(visit, 'undone', reference)
    return { to: 'done' }
  },
}

const choicesOf = (visit: Visit): OfferChoice[] => {
  const { user, terms, now, locale } = visit
  const current = offerOf(terms, user)
  return partnerOffers(terms).map((one): OfferChoice => {
    const displayname = one.displayname[locale]
    if (one.offer === current?.offer)
      return { offer: one.offer, displayname, direction: 'current', reasons: [] }
    const isUpgrade = one.rank > (current?.rank ?? 0)
    const at = isUpgrade ? Math.max(now, user.offer?.since ?? now) : nextBoundary(user, now, terms)
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
        ...(isLocked || isClosed ? [textsOf(locale).offer.locked] : []),
      ],
    }
  })
}

const openOffers = (visit: Visit): string[] =>
  choicesOf(visit)
    .filter(choice => choice.direction !== 'current' && choice.reasons.length === 0)
    .map(choice => choice.offer)

const wishFor = (offername: string) => ({ offername, action: 'auto', effective: 'auto' }) as const

const previewed = (visit: Visit, offername: string) => ({
  partner: visit.partner,
  user: visit.user,
  wish: wishFor(offername),
  now: visit.now,
})

/** The change that a form or an address asks for, tried out; `undefined` when it is not open. */
const proposed = (
  visit: Visit,
  form: URLSearchParams,
): { changed: OfferChange; choice: OfferChoice } | undefined => {
  if (!visit.isMember) return undefined
  const choice = choicesOf(visit).find(one => one.offer === form.get('offername'))
  if (!choice || !openOffers(visit).includes(choice.offer)) return undefined
  const changed = changeOfferOf(visit.user, wishFor(choice.offer), visit.now, visit.terms)
  return isRefusal(changed) ? undefined : { changed, choice }
}

/** Whether the person is on the offer they ask for, or on the way to it: the form came a second time. */
const isMade = ({ user, session }: Visit, offername: string): boolean =>
  user.pendingOffer?.name === offername || (session.outcome === 'changed' && user.offer?.name === offername)

const changeNow = async (visit: Visit, offername: string, consents: readonly Consent[]): Promise<Posted> => {
  const reference = referenceOf(visit.session.session_id, 'changed')
  const outcome = await visit.context.ledger.submit({
    partner: visit.partner,
    userid: visit.user.userid,
    who: 'user',
    why: `offer change ${reference}`,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !isActive(member.user))
        return refuse('user_not_found')
      const { user } = member
      if (user.pendingOffer?.name === offername || user.offer?.name === offername)
        return { answer: () => undefined }
      const agreed = { ...user, consents: mergeConsents(user.consents, consents) }
      const changed = changeOfferOf(agreed, wishFor(offername), now, terms())
      return isRefusal(changed) ? changed : { change: changed, answer: () => undefined }
    },
  })
  if (isRefusal(outcome)) return outcome.refused === 'user_not_found' ? 'gone' : { to: 'offer' }
  return confirmed(visit)
}

const confirmed = async (visit: Visit): Promise<Posted> => {
  await noteDone(visit, 'changed', referenceOf(visit.session.session_id, 'changed'))
  return { to: 'done' }
}

const linesOf = (visit: Visit, changed: OfferChange, names: readonly string[]): BenefitLine[] =>
  names.flatMap(name => {
    const benefit = openBenefit(visit.terms, name)
    return benefit ? [lineOf(visit, benefit, changed.effectiveAt)] : []
  })

const heldLines = (visit: Visit, names: readonly string[]): BenefitLine[] =>
  names.flatMap(name => {
    const held = heldEnrolment(visit.user, name)
    return held && knownBenefit(visit.terms, visit.user, name) ? [enrolmentLine(visit, held)] : []
  })

const consentsOf = (visit: Visit, changed: OfferChange, posted: URLSearchParams | undefined) =>
  consentsFor(
    visit,
    changed.gained.flatMap(name => openBenefit(visit.terms, name) ?? []),
    posted,
  )
