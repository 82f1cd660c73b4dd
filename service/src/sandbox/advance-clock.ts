/**
 * What only a sandbox can do: move its business clock forward. Everything that becomes due on the way is applied.
 */
import { YEAR_MS } from '../calendar/calendar.ts'
import type { Database, Executor } from '../db/database.ts'
import type { Query } from '../db/sql.ts'
import type { Directory } from '../partners/directory.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { moveClock } from '../partners/store.ts'
import type { Schedule } from '../schedule/schedule.ts'

/** What moving a clock needs from the other parts of the service. */
export type ClockContext = {
  readonly database: Database
  readonly directory: Pick<Directory, 'forget'>
  readonly clock: Clock
  readonly schedule: Schedule
}

/** How far a sandbox clock may be ahead of real time: twenty years. */
const MAX_AHEAD_MS = 20 * YEAR_MS

/**
 * Moves a partner's clock to `to`, in one transaction with the statements `alongside`, and applies every change that
 * becomes due, in order. Returns the partner's business time; `undefined`, with nothing changed, when that is too far ahead.
 */
export async function advanceClockTo(
  context: ClockContext,
  { partner, to, alongside }: { partner: Partner; to: number; alongside: readonly Query[] },
): Promise<number | undefined> {
  const moved = await context.database.transaction(async tx => {
    const partnerThen = await moveTo(tx, { clock: context.clock, partner, to })
    if (!partnerThen) return undefined
    for (const statement of alongside) await tx.query(statement)
    return partnerThen
  })
  if (!moved) return undefined
  await applyDue(context, moved)
  return context.clock.now(moved)
}

/** Moves a partner's clock; `undefined`, with nothing changed, when that is too far ahead of real time. */
export async function moveTo(
  db: Executor,
  move: { clock: Clock; partner: Partner; to: number },
): Promise<Partner | undefined> {
  const offset = move.to - move.clock.real()
  if (offset > MAX_AHEAD_MS) return undefined
  const clockOffsetMs = await moveClock(db, move.partner.partnerId, Math.max(0, Math.ceil(offset)))
  return { ...move.partner, clockOffsetMs }
}

/** Applies what has become due at the partner whose clock was moved. */
export async function applyDue(context: ClockContext, moved: Partner): Promise<void> {
  context.directory.forget(moved.partnerId)
  await context.schedule.runPartner(moved)
}
