import type { Person } from '../../membership/commands/documents.ts'
import { isRefusal, refuse } from '../../membership/rules/refusal.ts'
import { byVisitor, draftOf, registering, type Visit } from '../session/visit.ts'
import { type Draft, saysTheSame } from './answers.ts'
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
  const outcome = await visit.context.executor.submit<'saved' | 'conflict'>({
    ...byVisitor(visit),
    why: 'answers kept',
    decide: ({ member, now }) => {
      if (member?.user.serviceId !== visit.user.serviceId || member.user.status === 'erased')
        return refuse('user_not_found')
      const stored = draftOf(member.person('draft'))
      const next = change(stored, member.person('prefill') ?? {})
      if (saysTheSame(stored, next)) return { answer: () => 'saved' }
      if (version !== undefined && version !== stored.version) return { answer: () => 'conflict' }
      return {
        change: {
          user: registering(member.user, now),
          events: [],
          documents: { draft: { ...next, version: stored.version + 1 } },
        },
        answer: () => 'saved',
      }
    },
  })
  return isRefusal(outcome) ? 'gone' : outcome.reply
}

/** Whether a form was made from older answers than those shown now. */
export function isStale(visit: Visit, form: URLSearchParams): boolean {
  const version = versionOf(form)
  return version !== undefined && version !== visit.draft.version
}
