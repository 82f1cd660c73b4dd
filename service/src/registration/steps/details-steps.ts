import { updateAccount } from '../../accounts/lifecycle.ts'
import { projectPendingChanges } from '../../membership/rules/apply-due.ts'
import { type Person, residenceOf } from '../../membership/rules/person.ts'
import {
  detailsOf,
  groupsIn,
  laidOver,
  missingGroups,
  newerInDraft,
  newerThanConfirmed,
  personOfClean,
  withAnswer,
  withGroup,
} from '../session/answers.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { isFaulty } from '../views/faults.ts'
import { parseDetails } from '../views/form.ts'
import type { DetailsReviewView } from '../views/model.ts'
import type { DetailsGroup } from '../views/parts.ts'
import { changeOwn } from './change-own.ts'
import { comebackOf } from './comeback-steps.ts'
import { heldBenefitsOf } from './held-benefits.ts'
import { lostBetween, lostIn, pathAfter } from './lost-cover.ts'
import { stepOf } from './progress.ts'
import { confirmsOlder, saveAnswers } from './save-answers.ts'
import type { Posted, Step } from './step.ts'

/**
 * The known details, each with a link to change it: of a newcomer to be confirmed, of a member as confirmed, with the
 * benefits lost by a change just made.
 */
export const review: Step = {
  show: async (visit, typed) => ({
    view: 'DETAILS_REVIEW',
    page: detailsPage(visit),
    details: detailsOf(visit.person),
    from: originOf(visit),
    ...(visit.isMember
      ? {}
      : {
          firstname: visit.person.firstname,
          comeback: comebackOf(visit),
          held: await heldBenefitsOf(visit),
        }),
    missing: visit.isMember ? [] : missingGroups(visit.person),
    suggested: suggestedTo(visit),
    lost: visit.isMember ? lostIn(visit, typed.form) : [],
  }),
  post: (visit, form) => {
    if (visit.isMember) return { to: 'overview' }
    if (confirmsOlder(visit, form)) return 'conflict'
    return { to: missingGroups(visit.person).length > 0 ? 'details' : 'plan' }
  },
}

/** The inputs for one group of details. A newcomer's answers are kept in the draft, a member's take effect at once. */
export function edit(group: DetailsGroup): Step {
  return {
    show: (visit, typed) => {
      const { isMember, person, sent } = visit
      const newer = isMember ? laidOver(person, sent, group) : sent
      return {
        view: 'DETAILS_EDIT',
        page: detailsPage(visit),
        group,
        details: detailsOf(person),
        mayend: isMember && (group === 'address' || group === 'dob'),
        suggestion: suggestedTo(visit).includes(group) ? detailsOf(newer) : undefined,
        kept: typed.posted && Object.fromEntries(typed.posted),
      }
    },
    post: async (visit, form) => {
      const clean = parseDetails(group, form, visit.today)
      if (isFaulty(clean)) return clean
      if (visit.isMember) return updateDetails(visit, form, { group, given: personOfClean(clean) })
      return saveAnswers(
        visit,
        { form, to: afterAnswering(visit, group, personOfClean(clean)) },
        (draft, sent) => withAnswer(draft, { group, clean, sent }),
      )
    },
  }
}

/** The next group that is still missing once this one is answered; then the details, to be confirmed. */
function afterAnswering({ person }: Visit, group: DetailsGroup, given: Person): string {
  const [next] = missingGroups(withGroup(person, given, group))
  return next === undefined ? 'details' : `details/${next}`
}

function originOf({ isMember, user, sent, person }: Visit): DetailsReviewView['from'] {
  if (isMember) return 'member'
  if (groupsIn(sent).length > 0) return 'partner'
  if (groupsIn(person).length === 0) return 'nowhere'
  return user.status === 'cancelled' ? 'before' : 'answers'
}

function detailsPage(visit: Visit) {
  return pageOf(visit, visit.isMember ? undefined : stepOf(visit, 'details'))
}

/** The groups in which the partner sent something newer than what the person has answered or confirmed. */
function suggestedTo({ isMember, sent, person, draft }: Visit): DetailsGroup[] {
  return isMember ? newerThanConfirmed(sent, person) : newerInDraft(sent, draft)
}

/**
 * Stores one group of details as confirmed, after which what the partner sent for it is no longer suggested. Leads to the
 * details, which name the benefits lost by it.
 */
async function updateDetails(
  visit: Visit,
  form: URLSearchParams,
  { group, given }: { readonly group: DetailsGroup; readonly given: Person },
): Promise<Posted> {
  let lost: readonly string[] = []
  const reply = await changeOwn(visit, {
    why: 'details corrected',
    // Otherwise a form left open in another window would put back what was corrected since.
    form,
    decide: ({ user, person: documentOf, now, terms }) => {
      const stored = documentOf('profile') ?? {}
      const person = withGroup(stored, given, group)
      const sent = documentOf('prefill')
      const suggestion = sent && { prefill: withGroup(sent, {}, group) }
      lost = []
      const isSame = JSON.stringify(detailsOf(stored)) === JSON.stringify(detailsOf(person))
      const isAnswered = isSame && !newerThanConfirmed(sent ?? {}, stored).includes(group)
      if (isAnswered) return 'unchanged'
      if (isSame) return { user, events: [], documents: { ...suggestion } }
      const moved = JSON.stringify(residenceOf(stored)) !== JSON.stringify(residenceOf(person))
      const updated = updateAccount(user, moved, now, terms(person))
      lost = lostBetween(user, projectPendingChanges(updated.user, terms(person), { user, at: now }))
      return { ...updated, documents: { profile: person, ...suggestion } }
    },
  })
  if (reply === 'conflict') return reply
  return reply === 'done' ? { to: pathAfter(lost) } : 'gone'
}
