import type { ErrorCode } from '@benefit-enrolment/contract'
import { createAccount } from '../../accounts/lifecycle.ts'
import { enrolBenefitOf } from '../../benefits/single.ts'
import type { Instant } from '../../calendar/calendar.ts'
import { type Benefit, textIn } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import { enrolmentOf, mergeConsents } from '../../membership/rules/enrolments.ts'
import type { Changed } from '../../membership/rules/intents.ts'
import { isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { heldEnrolment, isPending, type Raised, type User } from '../../membership/rules/state.ts'
import { offerOf, type Terms } from '../../membership/rules/terms.ts'
import { detailsOf, draftOf, personShown, tagNow } from '../session/person.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { agreedNow, consentsFor, consentsToEnrol, isOfRecords } from '../steps/agreements.ts'
import { foreseenLine, visitAfter } from '../steps/ahead.ts'
import { liveEnrolment, startsFrom } from '../steps/cards.ts'
import {
  type ConfirmedChange,
  changeAndConfirm,
  confirmMade,
  confirmsOlder,
  isAnybody,
  type OwnChange,
} from '../steps/change-own.ts'
import { askedFor, coveredBy, familyOf } from '../steps/family.ts'
import { choosableByMember, isMissing } from '../steps/member-choices.ts'
import { chosenBenefits, foundPlan, type Plan, picksOf, plansFor, stepOf } from '../steps/plans.ts'
import { checkConsents, type Posted, type Step, showedOther } from '../steps/step.ts'
import { consentFields } from '../views/consents.ts'
import { coverageSection, priceSection } from '../views/coverage.ts'
import { detailsShort } from '../views/details.ts'
import type { WayOut } from '../views/faults.ts'
import { type Answers, form, primary, question } from '../views/fields.ts'
import type { View } from '../views/layout.ts'
import { benefitList } from '../views/lists.ts'
import type { BenefitLine, ConsentText, Details } from '../views/parts.ts'
import { sayIn } from '../views/say.ts'

/** All answers once more, with the consents that are needed. */
export const check: Step = {
  show: (visit, typed) => {
    const found = foundPlan(visit)
    if ('to' in found) return found
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const chosen = chosenBenefits(visit, found)
    const family = familyOf(visit, chosen, visit.now)
    const trial = {
      offer: found.offer,
      picks: picksOf(visit, found),
      consents: [],
      startsAt: visit.now,
      family,
    }
    const after = visitAfter(visit, createAccount(visit.user, trial, visit.now, visit.terms))
    const answers = { page: pageOf(visit, stepOf(visit, 'check')), errors: typed.errors }
    return checkView(answers, detailsOf(visit.person), {
      offername: textIn(found.offer.displayname, visit.locale),
      benefits: chosen.map(benefit => foreseenLine(visit, after, benefit, visit.now)),
      isfirstfree: found.offer.firstmonth === 'free',
      choosable: found.selectable.length > 0,
      consents: consentsToEnrol(visit, chosen, typed.posted),
    })
  },
}

/** Enrols exactly once, however often the button is pressed; each press gets the same confirmation. */
export const enrol: Step = {
  show: check.show,
  post: async (visit, form) => {
    const found = foundPlan(visit)
    if ('to' in found) {
      if (found.to === 'none') noteRefused(visit, 'ineligible')
      return found
    }
    if (confirmsOlder(visit, form)) return 'conflict'
    if (visit.draft.picks === undefined && found.selectable.length > 0) return { to: 'benefits' }
    const chosen = chosenBenefits(visit, found)
    const agreements = consentsToEnrol(visit, chosen)
    return (
      checkConsents(form, agreements, 'enroll', wayOut(visit, found, chosen)) ??
      enrolNow(visit, { form, found, agreements })
    )
  },
}

/** What a newcomer can do who does not agree to what a benefit asks for; nothing where there is no other choice. */
function wayOut(visit: Visit, { included, selectable }: Plan, chosen: readonly Benefit[]) {
  return (name: string): WayOut | undefined => {
    const isAmong = (benefits: readonly Benefit[]) => benefits.some(benefit => benefit.name === name)
    if (isAmong(selectable)) return chosen.length > 1 || selectable.length > 1 ? 'without' : undefined
    if (!isAmong(included)) return undefined
    return plansFor(visit).plans.some(plan => !isAmong(plan.included)) ? 'otherplan' : undefined
  }
}

function enrolNow(
  visit: Visit,
  input: { form: URLSearchParams; found: Plan; agreements: readonly ConsentText[] },
): Promise<Posted> {
  const { form, found, agreements } = input
  const change: ConfirmedChange = {
    why: 'enrol',
    of: isAnybody,
    agreements,
    decide: ({ user, person: documentOf, now, terms }) => {
      if (user.status === 'active') return refuse('user_exists')
      const draft = draftOf(documentOf('draft'))
      if (showedOther(form, tagNow(visit.partner, { user, person: documentOf, now, terms })))
        return 'conflict'
      const person = personShown(user, documentOf)
      const own = { ...visit, user, draft, person }
      const { offer } = found
      const start = {
        offer,
        picks: picksOf(own, found),
        consents: agreedNow(visit, agreements),
        startsAt: now,
        family: familyOf(own, chosenBenefits(own, found), now),
      }
      const created = createAccount(user, start, now, terms(person))
      if (isRefusal(created)) return created
      return { ...created, documents: { profile: person, prefill: null, draft: null } }
    },
  }
  return changeAndConfirm(visit, 'enrolled', change, code => {
    // The person is already a member: this is another press of the same button, or they enrolled in another way.
    if (code === 'user_exists') return confirmMade(visit, 'enrolled')
    noteRefused(visit, code)
    // The rules or the catalogue changed while the person answered: the person sees what is open now.
    return { to: 'plan' }
  })
}

/** Records the refusal, so that `enrolment user show` can tell why somebody who pressed the button is not a member. */
function noteRefused({ context, partner, user, requestId }: Visit, code: ErrorCode): void {
  context.noteRefused(partner, user.userid, { at: context.clock.real(), requestId, code, reasons: [] })
}

/** What a member is about to add, with the consents that are needed. */
export const memberCheck: Step = {
  show: (visit, typed) => {
    const offer = offerOf(visit.terms, visit.user)
    const chosen = pickedBenefits(visit)
    if (!offer || chosen.length === 0) {
      const isDone = visit.session.outcome === 'enrolled' && !isMissing(visit, visit.draft.picks)
      return { to: isDone ? 'done' : 'benefits' }
    }
    const tried = withAdded(visit.user, wantedOf(visit, chosen), visit.now, visit.terms)
    const after = visitAfter(visit, tried)
    return checkView({ page: pageOf(visit), errors: typed.errors }, detailsOf(visit.person), {
      offername: textIn(offer.displayname, visit.locale),
      benefits: chosen.map(benefit => {
        const row = heldEnrolment(after.user, benefit.name) ?? liveEnrolment(after.user, benefit.name)
        return foreseenLine(visit, after, benefit, row?.startsAt ?? startsFrom(visit))
      }),
      choosable: true,
      isAddition: true,
      consents: consentsFor(visit, chosen, typed.posted),
    })
  },
}

/** Adds the benefits that a member chose; a repeat gets the same confirmation. */
export const memberEnrol: Step = {
  show: memberCheck.show,
  post: async (visit, form) => {
    const chosen = pickedBenefits(visit)
    // Nothing is left to add: this session, or another, has done it, unless the last slot was filled in another way.
    if (chosen.length === 0)
      return isMissing(visit, visit.draft.picks) ? 'conflict' : confirmMade(visit, 'enrolled')
    if (confirmsOlder(visit, form)) return 'conflict'
    const agreements = consentsFor(visit, chosen)
    const isOnlyOne = choosableByMember(visit).selectable.length === 1
    const refused = checkConsents(form, agreements, 'enroll', name =>
      isOnlyOne || isOfRecords(name) ? undefined : 'without',
    )
    if (refused) return refused
    const wanted = wantedOf(visit, chosen, agreements)
    const decide: OwnChange['decide'] = ({ user, now, terms }) => {
      const added = withAdded(user, wanted, now, terms())
      if (isRefusal(added)) return added
      // Of two presses at once, the first has changed what the second one's view showed, but to what it asks for.
      const isMade = added.user.enrolments === user.enrolments && added.user.consents === user.consents
      return isMade ? 'unchanged' : { ...added, documents: { draft: null } }
    }
    return changeAndConfirm(visit, 'enrolled', { why: 'enrol', form, agreements, decide }, { to: 'benefits' })
  },
}

function pickedBenefits(visit: Visit): Benefit[] {
  const { selectable } = choosableByMember(visit)
  return selectable.filter(({ name }) => visit.draft.picks?.includes(name))
}

/** The benefits to add, with all consents. Benefits that a pending change will bring are added last: they need no slot today. */
function wantedOf(
  visit: Visit,
  chosen: readonly Benefit[],
  agreements: readonly ConsentText[] = consentsFor(visit, chosen),
) {
  const isAhead = ({ name }: Benefit) => enrolmentOf(visit.user, name, isPending) !== undefined
  const ordered = [...chosen.filter(benefit => !isAhead(benefit)), ...chosen.filter(isAhead)]
  const wanted = ordered.map(benefit => {
    const { name } = benefit
    // What a pending change brings covers whom that change names.
    const asked = isAhead(benefit) ? undefined : askedFor(visit, name)
    return { name, covered: asked && coveredBy(visit, asked).map(({ dependantid }) => dependantid) }
  })
  return { wanted, consents: agreedNow(visit, agreements) }
}

/** The user with these benefits added, each with its own consents, and the other consents; refused when one of them is. */
function withAdded(
  before: User,
  { wanted, consents }: Pick<ReturnType<typeof wantedOf>, 'wanted' | 'consents'>,
  now: Instant,
  terms: Terms,
): Changed | Refusal {
  const others = consents.filter(consent => !wanted.some(({ name }) => name === consent.name))
  let user: User = { ...before, consents: mergeConsents(before.consents, others) }
  const events: Raised[] = []
  for (const { name, covered } of wanted) {
    const own = consents.filter(consent => consent.name === name)
    const added = enrolBenefitOf(user, { name, consents: own, covered }, now, terms)
    if (isRefusal(added)) return added
    user = added.user
    events.push(...added.events)
  }
  return { user, events }
}

/** What is about to be agreed to. */
type Agreed = {
  readonly offername: string
  readonly benefits: readonly BenefitLine[]
  /** True where nothing is charged for the month in which the plan starts. */
  readonly isfirstfree?: boolean
  /** True when there was a choice, so that it can be changed. */
  readonly choosable: boolean
  /** True for a member, whose other benefits are not among these. */
  readonly isAddition?: boolean
  readonly consents: readonly ConsentText[]
}

/** All answers once more, the consents, and the button that enrols. */
function checkView(answers: Answers, details: Details, agreed: Agreed): View {
  const { page } = answers
  const { benefits, consents, offername, choosable } = agreed
  const say = sayIn(page)

  return question('CHECK_ANSWERS', answers, {
    title: say`Check your answers`,
    back: choosable ? 'benefits' : 'details',
    body: html`<section><div class="heading"><h2>${say`Your details`}</h2><a
href="${page.root}/details">${say`Change`}<span class="unseen"> – ${say`Your details`}</span></a></div>
${detailsShort(page, details)}</section>
<section><div class="heading"><h2>${say`Your benefits`}</h2>${
      choosable &&
      html`<a
href="${page.root}/benefits">${say`Change`}<span class="unseen"> – ${say`Your benefits`}</span></a>`
    }</div>
<p>${say`Plan`}: <strong>${offername}</strong></p>
${benefitList(page, benefits)}</section>
${priceSection(page, benefits, agreed)}
${coverageSection(page, benefits)}
${form(answers, 'enrol', [consentFields(answers, consents), primary(say`Enroll now`)])}`,
  })
}
