import { rejudge } from '../accounts/lifecycle.ts'
import { enrolBenefitOf } from '../benefits/single.ts'
import type { Benefit } from '../catalogue/model.ts'
import type { Person } from '../membership/documents.ts'
import { residenceOf } from '../membership/documents.ts'
import { type Raised, raise } from '../membership/events.ts'
import { isRefusal, refuse } from '../membership/refusal.ts'
import { type Consent, isActive, isLive, type User } from '../membership/state.ts'
import { knownBenefit, offerOf } from '../membership/terms.ts'
import { detailsOf, laidOver, newerThanConfirmed, personOfClean, withGroup, withoutGroup } from './answers.ts'
import { cardOf, consentsFor, lineOf, statusOf, wantedElsewhere } from './cards.ts'
import { choosableByMember, memberPaths } from './member-choices.ts'
import { noteDone, wasDoneBy } from './outcomes.ts'
import { referenceOf } from './reference.ts'
import { isStale, saveAnswers } from './save-answers.ts'
import type { Posted, Step } from './step.ts'
import { parseBenefits, parseConsents } from './views/choices.ts'
import { parseDetails } from './views/form.ts'
import type { DetailsGroup } from './views/parts.ts'
import { pageOf, type Visit } from './visit.ts'

/** What is confirmed of a member, and where the partner has sent something newer. */
export const memberReview: Step = {
  show: visit => ({
    view: 'DETAILS_REVIEW',
    page: pageOf(visit),
    details: detailsOf(visit.person),
    missing: [],
    suggested: newerThanConfirmed(visit.sent, visit.person),
  }),
  post: () => ({ to: 'overview' }),
}

/** The inputs of one group of a member's details; saving takes effect at once. */
export const memberEdit = (group: DetailsGroup): Step => ({
  show: (visit, typed) => ({
    view: 'DETAILS_EDIT',
    page: pageOf(visit),
    group,
    details: detailsOf(visit.person),
    ...(newerThanConfirmed(visit.sent, visit.person).includes(group)
      ? { suggestion: detailsOf(laidOver(visit.person, visit.sent, group)) }
      : {}),
    ...(typed.isPosted ? { kept: Object.fromEntries(typed.form) } : {}),
  }),
  post: async (visit, form) => {
    const parsed = parseDetails(group, form, visit.today)
    if (!parsed.ok) return { errors: parsed.errors }
    return updateDetails(visit, group, personOfClean(parsed.values))
  },
})

/** Confirms one group: what the partner has sent for it is no suggestion any more. */
const updateDetails = async (visit: Visit, group: DetailsGroup, given: Person): Promise<Posted> => {
  const outcome = await visit.context.ledger.submit({
    partner: visit.partner,
    userid: visit.user.userid,
    who: 'user',
    why: 'details corrected',
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !isActive(member.user))
        return refuse('user_not_found')
      const stored = member.person('profile') ?? {}
      const person = withGroup(stored, given, group)
      const sent = member.person('prefill')
      const suggestion = sent && { prefill: withoutGroup(sent, group) }
      const isSame = JSON.stringify(detailsOf(stored)) === JSON.stringify(detailsOf(person))
      if (isSame) {
        return {
          ...(suggestion ? { change: { user: member.user, events: [], documents: suggestion } } : {}),
          answer: () => undefined,
        }
      }
      const moved = JSON.stringify(residenceOf(stored)) !== JSON.stringify(residenceOf(person))
      const changed: User = { ...member.user, updatedAt: now }
      const user = moved ? rejudge(changed, now, terms(person)) : changed
      return {
        change: {
          user,
          events: [raise(user, 'user_update_successful', now)],
          documents: { profile: person, ...suggestion },
        },
        answer: () => undefined,
      }
    },
  })
  return isRefusal(outcome) ? 'gone' : { to: 'details' }
}

/** What a member has and can add in free places. */
export const memberBenefits: Step = {
  show: (visit, typed) => {
    const offer = offerOf(visit.terms, visit.user)
    if (!offer) return { to: 'overview' }
    const { selectable, waiting, slots, refused, full } = choosableByMember(visit)
    const chosen = typed.isPosted ? typed.form.getAll('benefit') : picksInMind(visit, selectable, waiting)
    const focus = visit.deepLink?.productname
    const startsAt = Math.max(visit.now, visit.user.offer?.since ?? visit.now)
    const held = visit.user.enrolments.filter(
      enrolment => isLive(enrolment) && !waiting.includes(enrolment.benefit),
    )
    return {
      view: 'BENEFITS',
      page: pageOf(visit),
      back: 'overview',
      offername: offer.displayname[visit.locale],
      slots,
      cards: [
        ...held.flatMap(enrolment => {
          const benefit = knownBenefit(visit.terms, visit.user, enrolment.benefit)
          return benefit ? [cardOf(visit, benefit, { status: statusOf(visit, enrolment) })] : []
        }),
        ...selectable.map(benefit =>
          cardOf(visit, benefit, {
            status: { kind: 'available' },
            startsAt,
            selected: chosen.includes(benefit.name),
          }),
        ),
        ...refused.map(({ benefit, reasons }) =>
          cardOf(visit, benefit, { status: { kind: 'unavailable', reasons } }),
        ),
        ...full.map(benefit => cardOf(visit, benefit, { status: { kind: 'full' } })),
        ...wantedElsewhere(visit, offer),
      ],
      ...(focus === undefined ? {} : { focus }),
      paths: { ...memberPaths(visit), canadd: false },
    }
  },
  post: async (visit, form) => {
    const { selectable, slots } = choosableByMember(visit)
    if (selectable.length === 0) return { to: 'overview' }
    const names = selectable.map(({ name }) => name)
    const parsed = parseBenefits(form, { selectable: names, slots, required: true })
    if (!parsed.ok) return { errors: parsed.errors }
    const saved = await saveAnswers(visit, form, draft => ({ ...draft, picks: parsed.values }))
    return saved === 'saved' ? { to: 'check' } : saved
  },
}

/** What is chosen; at first what waits for an agreement, and what the person's link is about. */
const picksInMind = (
  visit: Visit,
  selectable: readonly Benefit[],
  waiting: readonly string[],
): readonly string[] => {
  const { deepLink, draft } = visit
  const wanted = deepLink?.redirectto === 'enrol' ? [deepLink.productname] : []
  return (draft.picks ?? [...waiting, ...wanted]).filter(name =>
    selectable.some(benefit => benefit.name === name),
  )
}

/** What a member is about to add, with the consents that are wanted. */
export const memberCheck: Step = {
  show: (visit, typed) => {
    const offer = offerOf(visit.terms, visit.user)
    const chosen = pickedBenefits(visit)
    if (!offer || chosen.length === 0)
      return { to: visit.session.outcome === 'enrolled' ? 'done' : 'benefits' }
    const startsAt = Math.max(visit.now, visit.user.offer?.since ?? visit.now)
    return {
      view: 'CHECK_ANSWERS',
      page: pageOf(visit),
      details: detailsOf(visit.person),
      offername: offer.displayname[visit.locale],
      benefits: chosen.map(benefit => lineOf(visit, benefit, startsAt)),
      choosable: true,
      consents: consentsFor(visit, chosen, typed.isPosted ? typed.form : undefined),
    }
  },
}

/** Adds what a member chose; a repeat is answered with the same confirmation. */
export const memberEnrol: Step = {
  show: memberCheck.show,
  post: async (visit, form) => {
    const reference = referenceOf(visit.session.session_id, 'enrolled')
    const chosen = pickedBenefits(visit)
    if (chosen.length === 0) {
      // Nothing is left to add: this session has done so, or another has.
      if (!(await wasDoneBy(visit, reference))) return { to: 'overview' }
      await noteDone(visit, 'enrolled', reference)
      return { to: 'done' }
    }
    if (isStale(visit, form)) return 'conflict'
    const parsed = parseConsents(form, consentsFor(visit, chosen, undefined))
    if (!parsed.ok) return { errors: parsed.errors }
    const consents: Consent[] = parsed.values.map(consent => ({
      ...consent,
      agreedAt: visit.now,
      locale: visit.locale,
    }))
    return addNow(visit, { names: chosen.map(({ name }) => name), consents, reference })
  },
}

const pickedBenefits = (visit: Visit): Benefit[] => {
  const { selectable } = choosableByMember(visit)
  return selectable.filter(({ name }) => visit.draft.picks?.includes(name))
}

const addNow = async (
  visit: Visit,
  wish: { names: readonly string[]; consents: readonly Consent[]; reference: string },
): Promise<Posted> => {
  const outcome = await visit.context.ledger.submit({
    partner: visit.partner,
    userid: visit.user.userid,
    who: 'user',
    why: `enrol ${wish.reference}`,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !isActive(member.user))
        return refuse('user_not_found')
      let { user } = member
      const events: Raised[] = []
      for (const name of wish.names) {
        const consents = wish.consents.filter(consent => consent.name === name)
        const added = enrolBenefitOf(user, { name, consents }, now, terms())
        if (isRefusal(added)) return added
        user = added.user
        events.push(...added.events)
      }
      return { change: { user, events, documents: { draft: null } }, answer: () => undefined }
    },
  })
  if (!isRefusal(outcome)) {
    await noteDone(visit, 'enrolled', wish.reference)
    return { to: 'done' }
  }
  if (outcome.refused === 'user_not_found') return 'gone'
  return { to: 'benefits' }
}
