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
import type { Keyring } from '../vault/keyring.ts'

/** What moving a clock needs. */
export type ClockContext = {
  readonly database: Database
  readonly directory: Directory
  readonly clock: Clock
  readonly schedule: Schedule
  readonly keyring: Keyring
}

/** The farthest that a sandbox may be ahead of real time: twenty years. */
export const maxAheadMs = 20 * 366 * 86_400_000

/** Moves the business clock of a sandbox partner; everything due on the way is applied, in order (contract §13). */
export const sandboxHandlers = (context: ClockContext) => {
  const { database, keyring, directory, schedule } = context
  const { real } = context.clock
  const advance: Handler<typeof advanceClock, Caller> = async request => {
    const to = parseTimestamp(request.body.advanceto)
    if (to === undefined)
      throw badField('advanceto', 'format', 'must be a timestamp YYYY-MM-DDTHH:mm:ss.sssZ')
    const { partnerId } = request.caller.partner
    directory.forget(partnerId)
    const partner = (await directory.partner(partnerId)) ?? request.caller.partner
    const reply = await runKeyed(
      { request, effect: tx => advanceTo(tx, context.clock, { partner, to }) },
      { database, keyring, real },
    )
    directory.forget(partnerId)
    // Of a repeat too: the first try may have ended before everything due was applied.
    await schedule.runPartner((await directory.partner(partnerId)) ?? partner)
    return reply
  }
  return { advanceClock: advance }
}

/** Moves a partner's clock and tells the time that then is. Refuses a time that is past or too far ahead. */
const advanceTo = async (
  tx: Executor,
  clock: Clock,
  { partner, to }: { partner: Partner; to: number },
): Promise<{ now: string }> => {
  if (to < clock.now(partner)) throw badField('advanceto', 'past', 'must not lie before the present clock')
  const offset = to - clock.real()
  if (offset > maxAheadMs)
    throw badField('advanceto', 'toofar', 'must not lie more than 20 years ahead of real time')
  const clockOffsetMs = await moveClock(tx, partner.partnerId, Math.max(0, Math.ceil(offset)))
  return { now: formatTimestamp(clock.now({ clockOffsetMs })) }
}
