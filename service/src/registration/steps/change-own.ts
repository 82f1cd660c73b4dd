import type { ErrorCode } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { Change, CommandContext, Member } from '../../membership/commands/command.ts'
import { isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import { isActive, type User } from '../../membership/rules/state.ts'
import { byVisitor, type Visit } from '../session/visit.ts'

/** What a change by a visitor is decided on: their own user as it is now, with everything due applied. */
export type OwnUser = Member & { readonly now: Instant; readonly terms: CommandContext['terms'] }

/** What a visitor asks for. */
export type OwnChange = {
  readonly why: string
  /** Whose change it may be: members' unless told otherwise. */
  readonly of?: (user: User) => boolean
  /** Decides by the rules. `unchanged`: it is so already; `conflict`: the answers changed since the form was made. */
  readonly decide: (own: OwnUser) => Change | Refusal | 'unchanged' | 'conflict'
}

/**
 * Changes the visitor's own user, and says how it went: `done`, also where nothing was left to change; `conflict` as
 * decided; `gone` when the user of this session is there no longer, or is not one who may do this; else the code of the
 * rule that refused.
 */
export async function changeOwn(
  visit: Visit,
  { why, of = isActive, decide }: OwnChange,
): Promise<'done' | 'conflict' | 'gone' | ErrorCode> {
  const outcome = await visit.context.executor.submit<'done' | 'conflict'>({
    ...byVisitor(visit),
    why,
    decide: ({ member, now, terms }) => {
      if (member?.user.serviceId !== visit.user.serviceId || !of(member.user)) return refuse('user_not_found')
      const decided = decide({ ...member, now, terms })
      if (decided === 'unchanged') return { answer: () => 'done' }
      if (decided === 'conflict') return { answer: () => 'conflict' }
      return isRefusal(decided) ? decided : { change: decided, answer: () => 'done' }
    },
  })
  if (!isRefusal(outcome)) return outcome.reply
  return outcome.refused === 'user_not_found' ? 'gone' : outcome.refused
}

/** Everybody whose data is still there: members, and those who are about to be or were. */
export function isAnybody({ status }: User): boolean {
  return status !== 'erased'
}
