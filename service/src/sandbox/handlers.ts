import type { advanceClock, SandboxOperationId } from '@benefit-enrolment/contract'
import { formatTimestamp } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import type { Handler, Handlers } from '../http/mount.ts'
import { badField } from '../http/service-error.ts'
import { runKeyed } from '../idempotency/keyed.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Directory } from '../partners/directory.ts'
import { applyDue, type ClockContext, moveTo } from './advance-clock.ts'

/**
 * The handlers of all operations that only a sandbox has; a missing one does not compile. There is one: it moves a sandbox
 * partner's business clock (contract §13), and then applies what has become due.
 */
export function sandboxHandlers(
  context: ClockContext & { readonly directory: Directory },
): Handlers<Caller, SandboxOperationId> {
  const { clock, database, directory } = context
  const advance: Handler<typeof advanceClock, Caller> = async request => {
    const to = Date.parse(request.body.advanceto)
    const partner = (await directory.partner(request.caller.partner.partnerId)) ?? request.caller.partner
    let moved = partner
    const effect = async (tx: Executor) => {
      if (to < clock.now(partner))
        throw badField('advanceto', 'past', 'must not lie before the present clock')
      const change = await moveTo(tx, { clock, partner, to })
      if (!change) throw badField('advanceto', 'toofar', 'must not lie more than 20 years ahead of real time')
      moved = change
      return { now: formatTimestamp(clock.now(moved)) }
    }
    const reply = await runKeyed({ request, effect }, { database, real: clock.real })
    await applyDue(context, moved)
    return reply
  }
  return { advanceClock: advance }
}
