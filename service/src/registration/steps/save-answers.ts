import type { Person } from '../../membership/commands/documents.ts'
import { draftOf, registering, type Visit } from '../session/visit.ts'
import { type Draft, saysTheSame } from './answers.ts'
import { changeOwn, isAnybody } from './change-own.ts'
import { versionOf } from './step.ts'

/**
 * Keeps what the person answered, sealed. The same answer again is saved whatever the form was made from, since a
 * script sends a form again after a lost connection. `conflict`: the form was made from older answers; `gone`: so is
 * the user.
 */
export async function saveAnswers(
  visit: Visit,
  form: URLSearchParams,
  change: (draft: Draft, sent: Person) => Draft,
): Promise<'saved' | 'conflict' | 'gone'> {
  const version = versionOf(form)
  const outcome = await changeOwn(visit, {
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
  if (outcome === 'done') return 'saved'
  return outcome === 'conflict' ? 'conflict' : 'gone'
}

/** Whether a form was made from older answers than those shown now. */
export function isStale(visit: Visit, form: URLSearchParams): boolean {
  const version = versionOf(form)
  return version !== undefined && version !== visit.draft.version
}
