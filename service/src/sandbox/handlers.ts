/**
 * What only a sandbox can do: move its business clock forward. Everything that becomes due on the way is applied.
 */
import type { advanceClock } from '@benefit-enrolment/contract'
import { DAY_MS, formatTimestamp, parseTimestamp } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import type { Query } from '../db/sql.ts'
import type { Handler } from '../http/mount.ts'
import { badField } from '../http/service-error.ts'
import { runKeyed } from '../idempotency/keyed.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Directory } from '../partners/directory.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { moveClock } from '../partners/store.ts'
import type { Schedule } from '../schedule/schedule.ts'

/** The operation that moves a sandbox partner's business clock (contract §13), and then applies what has become due. */
export function sandboxHandlers(context: ClockContext & { readonly directory: Directory }) {
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

/** What moving a clock needs from the other parts of the service. */
export type ClockContext = {
  readonly database: Database
  readonly directory: Pick<Directory, 'forget'>
  readonly clock: Clock
  readonly schedule: Schedule
}

/** How far a sandbox clock may be ahead of real time: twenty years. */
const maxAheadMs = 20 * 366 * DAY_MS

/**
 * Moves a partner's clock to `to`, in one transaction with the statements `alongside`, and applies every change that
 * becomes due, in order. Returns the partner's business time.
 */
export async function advanceClockTo(
  context: ClockContext,
  { partner, to, alongside }: { partner: Partner; to: number; alongside: readonly Query[] },
): Promise<number> {
  const moved = await context.database.transaction(async tx => {
    const partnerThen = await moveTo(tx, { clock: context.clock, partner, to })
    for (const statement of alongside) await tx.query(statement)
    return partnerThen
  })
  await applyDue(context, moved)
  return context.clock.now(moved)
}

async function moveTo(db: Executor, move: { clock: Clock; partner: Partner; to: number }): Promise<Partner> {
  const offset = move.to - move.clock.real()
  if (offset > maxAheadMs)
    throw badField('advanceto', 'toofar', 'must not lie more than 20 years ahead of real time')
  const clockOffsetMs = await moveClock(db, move.partner.partnerId, Math.max(0, Math.ceil(offset)))
  return { ...move.partner, clockOffsetMs }
}

async function applyDue(context: ClockContext, moved: Partner): Promise<void> {
  context.directory.forget(moved.partnerId)
  await context.schedule.runPartner(moved)
}
