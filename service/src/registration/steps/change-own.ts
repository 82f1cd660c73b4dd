import type { ErrorCode } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { Change, CommandContext, Member } from '../../membership/command.ts'
import type { Why } from '../../membership/rules/history.ts'
import { isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { isActive, type User } from '../../membership/rules/state.ts'
import { authorOf } from '../session/author.ts'
import { tagNow } from '../session/shown.ts'
import type { Visit } from '../session/visit.ts'
import { showedOther } from './step.ts'

/** A visitor's own user at the moment of the decision, with due changes applied. */
type OwnUser = Member & { readonly now: Instant; readonly terms: CommandContext['terms'] }

/** A change that a visitor asks for. */
export type OwnChange = {
  readonly why: Why
  /** The reference of the confirmation that the person gets; stored with the change. */
  readonly reference?: string
  /**
   * The posted form. If its view is out of date, nothing is changed. Leave it out for changes that do not depend on what was
   * shown.
   */
  readonly form?: URLSearchParams
  /** Which users may make this change; absent: members. */
  readonly of?: (user: User) => boolean
  /**
   * Decides by the rules. `unchanged`: nothing is left to change; `conflict`: the answers changed since the form was
   * made.
   */
  readonly decide: (own: OwnUser) => Change | Refusal | 'unchanged' | 'conflict'
}

/**
 * Changes the visitor's own user, and reports the result: `done`, also when nothing was left to change; `conflict` as
 * decided, or when `form` showed something else; `gone` when the session's user no longer exists or may not make this change; otherwise the code of the rule
 * that refused.
 */
export async function changeOwn(
  visit: Visit,
  { why, reference, form, of = isActive, decide }: OwnChange,
): Promise<'done' | 'conflict' | 'gone' | ErrorCode> {
  const result = await visit.context.executor.submit<'done' | 'conflict'>({
    ...authorship(visit),
    why,
    reference,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !of(member.user)) return refuse('user_not_found')
      const decided = decide({ ...member, now, terms })
      if (decided === 'unchanged') return { answer: () => 'done' }
      if (decided === 'conflict') return { answer: () => 'conflict' }
      if (isRefusal(decided)) return decided
      const isOutdated = form && showedOther(form, tagNow(visit.partner, { ...member, now, terms }))
      return isOutdated ? { answer: () => 'conflict' } : { change: decided, answer: () => 'done' }
    },
  })
  if (!isRefusal(result)) return result.reply
  return result.refused === 'user_not_found' ? 'gone' : result.refused
}

/** Every user whose data still exists: members, and people who are registering or have canceled. */
export function isAnybody({ status }: User): boolean {
  return status !== 'erased'
}

/** The author of a change, as the history records it: who opened the page, in this session and by this request. */
function authorship({ partner, user, session, requestId }: Visit) {
  const actor = session.session_id
  return { partner, userid: user.userid, who: authorOf(session), actor, requestId }
}
