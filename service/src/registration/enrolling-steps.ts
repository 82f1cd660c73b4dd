import { createAccount } from '../accounts/lifecycle.ts'
import type { Benefit } from '../catalogue/model.ts'
import type { Person } from '../membership/documents.ts'
import { isRefusal, refuse } from '../membership/refusal.ts'
import type { Consent } from '../membership/state.ts'
import { answeredPerson, detailsOf, missingGroups } from './answers.ts'
import { consentsFor, lineOf } from './cards.ts'
import { noteDone, wasDoneBy } from './outcomes.ts'
import { findPlan, type Plan } from './plans.ts'
import { referenceOf } from './reference.ts'
import { foundPlan, picksOf } from './registering-steps.ts'
import { isStale } from './save-answers.ts'
import { type Posted, type Step, versionOf } from './step.ts'
import { parseConsents } from './views/choices.ts'
import { choosesPlan, draftOf, pageOf, type Visit, wayBack } from './visit.ts'

/** Everything once more, with the consents that are wanted. */
export const check: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const chosen = chosenBenefits(visit, found)
    return {
      view: 'CHECK_ANSWERS',
      page: pageOf(visit, choosesPlan(visit) ? 4 : 3),
      details: detailsOf(visit.person),
      offername: found.offer.displayname[visit.locale],
      benefits: chosen.map(benefit => lineOf(visit, benefit, visit.now)),
      choosable: found.selectable.length > 0,
      consents: consentsFor(visit, chosen, typed.isPosted ? typed.form : undefined),
    }
  },
}

const chosenBenefits = (visit: Visit, found: Plan): Benefit[] => {
  const picks = picksOf(visit, found)
  return [...found.included, ...found.selectable.filter(({ name }) => picks.includes(name))]
}

/** Enrols, once however often the button is pressed; each press gets the same confirmation. */
export const enrol: Step = {
  show: check.show,
  post: async (visit, form) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    if (isStale(visit, form)) return 'conflict'
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const wanted = consentsFor(visit, chosenBenefits(visit, found), undefined)
    const parsed = parseConsents(form, wanted)
    if (!parsed.ok) return { errors: parsed.errors }
    const consents: Consent[] = parsed.values.map(consent => ({
      ...consent,
      agreedAt: visit.now,
      locale: visit.locale,
    }))
    return enrolNow(visit, { form, found, consents })
  },
}

const enrolNow = async (
  visit: Visit,
  wish: { form: URLSearchParams; found: Plan; consents: readonly Consent[] },
): Promise<Posted> => {
  const { form, found, consents } = wish
  const reference = referenceOf(visit.session.session_id, 'enrolled')
  const version = versionOf(form)
  const outcome = await visit.context.ledger.submit<'enrolled' | 'conflict'>({
    partner: visit.partner,
    userid: visit.user.userid,
    who: 'user',
    why: `enrol ${reference}`,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || member.user.status === 'erased')
        return refuse('user_not_found')
      const { user } = member
      if (user.status === 'active') return refuse('user_exists')
      const draft = draftOf(member.person('draft'))
      if (version !== undefined && version !== draft.version) return { answer: () => 'conflict' }
      const sent: Person = user.entryExpiresAt === undefined ? {} : (member.person('prefill') ?? {})
      const person = answeredPerson({ ...member.person('profile'), ...sent }, draft)
      const picks = picksOf({ ...visit, draft }, found)
      const start = { offer: found.offer, picks, consents, startsAt: now }
      const created = createAccount(user, start, now, terms(person))
      if (isRefusal(created)) return created
      return {
        change: { ...created, documents: { profile: person, prefill: null, draft: null } },
        answer: () => 'enrolled',
      }
    },
  })
  if (!isRefusal(outcome)) {
    if (outcome.reply === 'conflict') return 'conflict'
    await noteDone(visit, 'enrolled', reference)
    return { to: 'done' }
  }
  if (outcome.refused === 'user_not_found') return 'gone'
  if (outcome.refused === 'user_exists') return repeated(visit, reference)
  // The rules or the catalogue have changed under the answers: the person sees what is open now.
  return { to: 'plan' }
}

/** The person is a member already: by this very session, of which this is another press, or by another way. */
const repeated = async (visit: Visit, reference: string): Promise<Posted> => {
  if (!(await wasDoneBy(visit, reference))) return { to: 'overview' }
  await noteDone(visit, 'enrolled', reference)
  return { to: 'done' }
}

/** No plan fits, and why. */
export const none: Step = {
  show: visit => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const found = findPlan(visit)
    if (!('none' in found)) return { to: 'plan' }
    return {
      view: 'NO_BENEFITS',
      page: pageOf(visit),
      reasons: found.none,
      ...wayBack(visit),
    }
  },
}
