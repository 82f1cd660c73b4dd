import { enrolBenefitOf } from '../../../benefits/single.ts'
import type { Instant } from '../../../calendar/calendar.ts'
import type { Benefit } from '../../../catalogue/model.ts'
import { enrolmentOf, mergeConsents } from '../../../membership/rules/enrolments.ts'
import type { Changed } from '../../../membership/rules/intents.ts'
import { isRefusal, type Refusal } from '../../../membership/rules/refusal.ts'
import type { Raised } from '../../../membership/rules/state.ts'
import { type Consent, heldEnrolment, isPending, type User } from '../../../membership/rules/state.ts'
import { offerOf, type Terms } from '../../../membership/rules/terms.ts'
import { detailsOf } from '../../session/answers.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { agreedNow, consentsFor, isOfRecords } from '../../steps/agreements.ts'
import { foreseenLine, visitAfter } from '../../steps/ahead.ts'
import { liveEnrolment, startsFrom } from '../../steps/cards.ts'
import type { OwnChange } from '../../steps/change-own.ts'
import { choosableByMember, isMissing } from '../../steps/member-choices.ts'
import { changeAndConfirm, confirmMade } from '../../steps/outcomes.ts'
import { checkConsents } from '../../steps/posted.ts'
import { confirmsOlder } from '../../steps/save-answers.ts'
import type { Step } from '../../steps/step.ts'
import type { ConsentText } from '../../views/parts.ts'
import { checkView } from './view.ts'

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
      offername: offer.displayname[visit.locale],
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
  return { names: ordered.map(({ name }) => name), consents: agreedNow(visit, agreements) }
}

/** The user with these benefits added, each with its own consents, and the other consents; refused when one of them is. */
function withAdded(
  before: User,
  { names, consents }: { readonly names: readonly string[]; readonly consents: readonly Consent[] },
  now: Instant,
  terms: Terms,
): Changed | Refusal {
  const others = consents.filter(consent => !names.includes(consent.name))
  let user: User = { ...before, consents: mergeConsents(before.consents, others) }
  const events: Raised[] = []
  for (const name of names) {
    const own = consents.filter(consent => consent.name === name)
    const added = enrolBenefitOf(user, { name, consents: own }, now, terms)
    if (isRefusal(added)) return added
    user = added.user
    events.push(...added.events)
  }
  return { user, events }
}
