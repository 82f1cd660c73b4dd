import type { Person } from '../membership/documents.ts'
import { isRefusal, refuse } from '../membership/refusal.ts'
import { type Draft, saysTheSame } from './answers.ts'
import { versionOf } from './step.ts'
import { draftOf, registering, type Visit } from './visit.ts'

/**
 * Keeps what the person answered, sealed. The same answer again is saved whatever the form was made from, since a
 * script sends a form again after a lost connection. `conflict`: the form was made from older answers; `gone`: so is
 * the user.
 */
export const saveAnswers = async (
  visit: Visit,
  form: URLSearchParams,
  change: (draft: Draft, sent: Person) => Draft,
): Promise<'saved' | 'conflict' | 'gone'> => {
  const version = versionOf(form)
  const outcome = await visit.context.ledger.submit<'saved' | 'conflict'>({
    partner: visit.partner,
    userid: visit.user.userid,
    who: 'user',
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
export const isStale = (visit: Visit, form: URLSearchParams): boolean => {
  const version = versionOf(form)
  return version !== undefined && version !== visit.draft.version
}
