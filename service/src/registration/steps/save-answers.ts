import type { Person } from '../../membership/rules/person.ts'
import { type Draft, draftOf, saysTheSame } from '../session/answers.ts'
import { shownTag } from '../session/shown.ts'
import { registering, type Visit } from '../session/visit.ts'
import { changeOwn, isAnybody } from './change-own.ts'
import { type Posted, type Redirect, showedOther, versionOf } from './step.ts'

/**
 * Adds the person's answers to the draft, a sealed document, and leads on to `to`. The same answer again is accepted whatever version the form was
 * made from, because a script repeats a form after a lost connection. `conflict`: the form was made from older answers;
 * `gone`: the user no longer exists.
 */
export async function saveAnswers(
  visit: Visit,
  { form, to }: Redirect & { readonly form: URLSearchParams },
  change: (draft: Draft, sent: Person) => Draft,
): Promise<Posted> {
  const version = versionOf(form)
  const reply = await changeOwn(visit, {
    why: 'answers kept',
    of: isAnybody,
    decide: ({ user, person, now }) => {
      const stored = draftOf(person('draft'))
      const next = change(stored, person('prefill') ?? {})
      if (saysTheSame(stored, next)) return 'unchanged'
      if (version !== undefined && version !== stored.version) return 'conflict'
      return {
        user: registering(user, now),
        events: [],
        documents: { draft: { ...next, version: stored.version + 1 } },
      }
    },
  })
  if (reply === 'done') return { to }
  return reply === 'conflict' ? 'conflict' : 'gone'
}

/** Whether a form was made from answers older than the stored ones. */
export function isStale(visit: Visit, form: URLSearchParams): boolean {
  const version = versionOf(form)
  return version !== undefined && version !== visit.draft.version
}

/**
 * Whether a form was made from older answers, or from anything else on its view that has changed since (`shownTag`): such a
 * form must not confirm anything.
 */
export function confirmsOlder(visit: Visit, form: URLSearchParams): boolean {
  return isStale(visit, form) || showedOther(form, shownTag(visit, visit.person))
}
