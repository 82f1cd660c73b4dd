import type { Query } from '../../db/sql.ts'
import type { CommandExecutor } from '../../membership/commands/executor.ts'
import { effectOf } from '../../membership/rules/effect.ts'
import { isRefusal, type Refusal, refuse } from '../../membership/rules/refusal.ts'
import type { User } from '../../membership/rules/state.ts'
import type { LivingUser } from '../user-data/living-user.ts'
import type { Act, AfterAct } from './act.ts'

/**
 * Makes the change of an act, in one transaction with `alongside`, so that nothing is ever done without a record. Refuses
 * as the rules do, and when the change would no longer have `effect`.
 */
export async function submitAct(
  by: AfterAct & { readonly executor: CommandExecutor; readonly requestId?: string },
  { partner, user, serviceId }: Pick<LivingUser, 'partner' | 'user' | 'serviceId'>,
  asked: {
    readonly act: Act
    readonly form: URLSearchParams
    readonly actor: string
    readonly alongside: readonly Query[]
    readonly effect: string
  },
): Promise<Refusal | undefined> {
  const { act, form, actor, alongside, effect } = asked
  const why = act.why(form)
  const result = await by.executor.submit<User>({
    partner,
    userid: user.userid,
    who: 'operator',
    why,
    actor,
    ...(by.requestId !== undefined && { requestId: by.requestId }),
    alongside,
    decide: ({ member, now, terms }) => {
      if (!member || member.user.serviceId !== serviceId) return refuse('user_not_found')
      const moment = { user: member.user, now, terms: terms() }
      const change = act.decide(form, moment)
      if (isRefusal(change)) return change
      if (effectOf(change, moment, why).text !== effect) return refuse('preview_stale')
      return { change, answer: after => after }
    },
  })
  if (isRefusal(result)) return result
  await act.done?.(by, result.reply)
  return undefined
}
