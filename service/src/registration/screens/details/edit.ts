import { updateAccount } from '../../../accounts/lifecycle.ts'
import { html } from '../../../http/html.ts'
import { afterChange } from '../../../membership/rules/apply-due.ts'
import { type Person, residenceOf } from '../../../membership/rules/person.ts'
import {
  detailsOf,
  laidOver,
  missingGroups,
  newerThanConfirmed,
  personOfClean,
  withAnswer,
  withGroup,
} from '../../session/person.ts'
import type { Visit } from '../../session/visit.ts'
import { changeOwn, saveAnswers } from '../../steps/change-own.ts'
import type { Posted, Step } from '../../steps/step.ts'
import { groupText } from '../../views/details.ts'
import { isFaulty } from '../../views/faults.ts'
import { form, primary, question } from '../../views/fields.ts'
import { icon } from '../../views/icons.ts'
import type { DetailsGroup } from '../../views/parts.ts'
import { later, sayIn } from '../../views/say.ts'
import { drawInputs, keptDetails, parseDetails } from './inputs.ts'
import { lostBetween, pathAfter } from './lost-cover.ts'
import { detailsPage, suggestedTo } from './review.ts'

/** The inputs for one group of details. A newcomer's answers are kept in the draft, a member's take effect at once. */
export function edit(group: DetailsGroup): Step {
  return {
    show: (visit, typed) => {
      const { isMember, person, sent } = visit
      const newer = isMember ? laidOver(person, sent, group) : sent
      const page = detailsPage(visit)
      const say = sayIn(page)
      const kept = typed.posted ? Object.fromEntries(typed.posted) : keptDetails(detailsOf(person))
      const answers = { page, errors: typed.errors, kept }
      return question('DETAILS_EDIT', answers, {
        title: say(questions[group]),
        back: 'details',
        body: html`${
          suggestedTo(visit).includes(group) &&
          html`<p class="notice info">${icon('info')}<span>${say`${page.partner.displayname} sent:`}
<strong>${groupText(page, detailsOf(newer), group)}</strong></span></p>`
        }
${
  isMember &&
  (group === 'address' || group === 'dob') &&
  html`<p class="hint">${say`A benefit that does not fit your new details will end.`}</p>`
}
${form(answers, `details/${group}`, [drawInputs(group, answers), primary(say`Save and continue`)])}`,
      })
    },
    post: async (visit, posted) => {
      const clean = parseDetails(group, posted, visit.today)
      if (isFaulty(clean)) return clean
      if (visit.isMember) return updateDetails(visit, posted, { group, given: personOfClean(clean) })
      return saveAnswers(visit, { to: afterAnswering(visit, group, personOfClean(clean)) }, (draft, sent) =>
        withAnswer(draft, { group, clean, sent }),
      )
    },
  }
}

/** The next group that is still missing once this one is answered; then the details, to be confirmed. */
function afterAnswering({ person }: Visit, group: DetailsGroup, given: Person): string {
  const [next] = missingGroups(withGroup(person, given, group))
  return next === undefined ? 'details' : `details/${next}`
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
      lost = lostBetween(user, afterChange(updated, { user, now, terms: terms(person) }))
      return { ...updated, documents: { profile: person, ...suggestion } }
    },
  })
  if (reply === 'conflict') return reply
  return reply === 'done' ? { to: pathAfter(lost) } : 'gone'
}

const questions: Readonly<Record<DetailsGroup, string>> = {
  name: later`What is your name?`,
  dob: later`What is your date of birth?`,
  contact: later`What are your email and phone?`,
  address: later`Where do you live?`,
  gender: later`What is your gender?`,
}
