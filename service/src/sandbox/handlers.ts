import type { advanceClock } from '@benefit-enrolment/contract'
import { formatTimestamp, parseTimestamp } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import type { Handler } from '../http/mount.ts'
import { badField } from '../http/service-error.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Directory } from '../partners/directory.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { moveClock } from '../partners/store.ts'
import type { Schedule } from '../schedule/schedule.ts'

/** Moves the business clock of a sandbox partner (contract §13). */
export const sandboxHandlers = (context: ClockContext & { readonly directory: Directory }) => {
  const advance: Handler<typeof advanceClock, Caller> = async request => {
    const to = parseTimestamp(request.body.advanceto)
    if (to === undefined)
      throw badField('advanceto', 'format', 'must be a timestamp YYYY-MM-DDTHH:mm:ss.sssZ')
    const partner =
      (await context.directory.partner(request.caller.partner.partnerId)) ?? request.caller.partner
    if (to < context.clock.now(partner))
      throw badField('advanceto', 'past', 'must not lie before the present clock')
    return { now: formatTimestamp(await advanceClockTo(context, partner, to)) }
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
  const offset = to - context.clock.real()
  if (offset > maxAheadMs)
    throw badField('advanceto', 'toofar', 'must not lie more than 20 years ahead of real time')
  const clockOffsetMs = await moveClock(context.database, partner.partnerId, Math.max(0, Math.ceil(offset)))
  context.directory.forget(partner.partnerId)
  const moved = { ...partner, clockOffsetMs }
  await context.schedule.runPartner(moved)
  return context.clock.now(moved)
}
