import { isDeepStrictEqual } from 'node:util'
import type { Person } from '../../membership/rules/person.ts'
import { type Draft, draftOf } from '../session/answers.ts'
import { shownTag } from '../session/shown.ts'
import { registering, type Visit } from '../session/visit.ts'
import { changeOwn, isAnybody } from './change-own.ts'
import { type Posted, type Redirect, showedOther } from './step.ts'

/**
 * Adds the person's answers to the draft, a sealed document, and leads on to `to`. The last answer counts, whatever its form was
 * made from: all are shown once more before the person agrees. `gone`: the user no longer exists.
 */
export async function saveAnswers(
  visit: Visit,
  { to }: Redirect,
  change: (draft: Draft, sent: Person) => Draft,
): Promise<Posted> {
  const reply = await changeOwn(visit, {
    why: 'answers kept',
    of: isAnybody,
    decide: ({ user, person, now }) => {
      const stored = draftOf(person('draft'))
      const next = change(stored, person('prefill') ?? {})
      if (isDeepStrictEqual(stored, next)) return 'unchanged'
      return { user: registering(user, now), events: [], documents: { draft: next } }
    },
  })
  return reply === 'done' ? { to } : 'gone'
}

/**
 * Whether a form was made from older answers, or from anything else on its view that has changed since (`shownTag`): such a
 * form must not confirm anything.
 */
export function confirmsOlder(visit: Visit, form: URLSearchParams): boolean {
  return showedOther(form, shownTag(visit, visit))
}
