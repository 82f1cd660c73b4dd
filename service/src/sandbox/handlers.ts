import type { advanceClock } from '@benefit-enrolment/contract'
import { formatTimestamp, parseTimestamp } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import type { Handler } from '../http/mount.ts'
import { badField } from '../http/service-error.ts'
import { runKeyed } from '../idempotency/keyed.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Directory } from '../partners/directory.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { moveClock } from '../partners/store.ts'
import type { Schedule } from '../schedule/schedule.ts'

/** Moves the business clock of a sandbox partner (contract §13). */
export const sandboxHandlers = (context: ClockContext & { readonly directory: Directory }) => {
  const { clock, database, directory } = context
  const advance: Handler<typeof advanceClock, Caller> = async request => {
    const to = parseTimestamp(request.body.advanceto)
    if (to === undefined)
      throw badField('advanceto', 'format', 'must be a timestamp YYYY-MM-DDTHH:mm:ss.sssZ')
    const partner = (await directory.partner(request.caller.partner.partnerId)) ?? request.caller.partner
    let moved = partner
    const effect = async (tx: Executor) => {
      if (to < clock.now(partner))
        throw badField('advanceto', 'past', 'must not lie before the present clock')
      moved = await moveTo(tx, { clock, partner, to })
      return { now: formatTimestamp(clock.now(moved)) }
    }
    const reply = await runKeyed({ request, effect }, { database, real: clock.real })
    await applyDue(context, moved)
    return reply
  }
  return { advanceClock: advance }
}

/** What moving a clock needs. */
export type ClockContext = {
  readonly database: Database
  readonly directory: Pick<Directory, 'forget'>
  readonly clock: Clock
  readonly schedule: Schedule
}

/** The farthest that a sandbox may be ahead of real time: twenty years. */
export const maxAheadMs = 20 * 366 * 86_400_000

/** Moves a partner's clock to `to` and applies everything due on the way, in order; gives the time that then is. */
export const advanceClockTo = async (
  context: ClockContext,
  partner: Partner,
  to: number,
): Promise<number> => {
  const moved = await moveTo(context.database, { clock: context.clock, partner, to })
  await applyDue(context, moved)
  return context.clock.now(moved)
}

const moveTo = async (
  db: Executor,
  move: { clock: Clock; partner: Partner; to: number },
): Promise<Partner> => {
  const offset = move.to - move.clock.real()
  if (offset > maxAheadMs)
    throw badField('advanceto', 'toofar', 'must not lie more than 20 years ahead of real time')
  const clockOffsetMs = await moveClock(db, move.partner.partnerId, Math.max(0, Math.ceil(offset)))
  return { ...move.partner, clockOffsetMs }
}

const applyDue = async (context: ClockContext, moved: Partner): Promise<void> => {
  context.directory.forget(moved.partnerId)
  await context.schedule.runPartner(moved)
}
