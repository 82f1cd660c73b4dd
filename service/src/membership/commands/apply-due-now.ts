import type { Partner } from '../../partners/partner.ts'
import type { CommandExecutor } from './executor.ts'

/**
 * Applies what is due for one user, by a command without a change of its own, because the executor applies due changes
 * before it decides. `anew` writes the user again even if nothing was due. Returns whether a change was due.
 */
export async function applyDueNow(
  executor: Pick<CommandExecutor, 'submit'>,
  partner: Partner,
  due: { userid: string; anew?: boolean },
): Promise<boolean> {
  let wasDue = false
  await executor.submit({
    partner,
    userid: due.userid,
    who: 'schedule',
    why: 'due',
    decide: commandContext => {
      wasDue = commandContext.wasDue
      if (commandContext.member === undefined) return { refused: 'user_not_found', reasons: [] }
      const change = { user: commandContext.member.user, events: [] }
      return { answer: () => undefined, ...(due.anew ? { change } : {}) }
    },
  })
  return wasDue
}
