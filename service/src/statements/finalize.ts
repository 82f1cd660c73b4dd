import { MINUTE_MS } from '../calendar/calendar.ts'
import { finalFrom, type Month, type MonthName } from '../calendar/month.ts'
import type { Partner } from '../partners/partner.ts'
import { uuidAfter } from '../vault/uuid.ts'
import { type CountContext, countUsers } from './count.ts'
import { monthsOf } from './months.ts'
import {
  advanceStatement,
  beginStatement,
  forgetCorrections,
  insertLines,
  type StatementRow,
} from './store.ts'
import { totalsOf } from './totals.ts'

/** When months may become final, and when to stop. */
type Finalizing = {
  /** `due`: three days after their end; else all that have ended, up to this month. */
  readonly which: 'due' | { readonly upTo: MonthName }
  /** Asked before each slice: whether to go on. */
  readonly mayGoOn: () => boolean
}

/**
 * The users of a slice: small enough that its transaction and its counting delay nobody, large enough that its commit costs
 * little a user.
 */
const USERS_OF_A_SLICE = 500

/**
 * Makes a partner's months final, the oldest first. A month is stored in slices, each of which is one transaction that also
 * says how far the month has come: after a kill, or beside another process, the next slice goes on from there. Nobody reads
 * its lines before the last slice. Returns the months that it made final, and whether it had time for all.
 */
export async function finalizeMonths(
  context: CountContext,
  partner: Partner,
  { which, mayGoOn }: Finalizing,
): Promise<{ months: MonthName[]; isDone: boolean }> {
  const made: MonthName[] = []
  for (;;) {
    const { now, oldestOpen: month, finals } = await monthsOf(context, partner)
    const isTime = which === 'due' ? now >= finalFrom(month) : now >= month.endsAt && month.name <= which.upTo
    if (!isTime) return { months: made, isDone: true }
    const row = await beginStatement(context.database, {
      partnerId: partner.partnerId,
      month: month.name,
      timezone: month.zone,
      at: context.clock.real(),
    })
    if (!row) return { months: made, isDone: false }
    for (let after = row.last_service_id; ; ) {
      if (!mayGoOn()) return { months: made, isDone: false }
      const slice = await storeSlice(context, partner, { month, finals, row, after, now })
      if (slice === 'taken by another process') return { months: made, isDone: false }
      if (slice === 'final') break
      after = slice
    }
    made.push(month.name)
  }
}

type SliceOf = {
  readonly month: Month
  readonly finals: readonly StatementRow[]
  readonly row: StatementRow
  readonly after: string
  readonly now: number
}

/** Stores the next slice; returns its last user. */
async function storeSlice(
  context: CountContext,
  partner: Partner,
  { month, finals, row, after, now }: SliceOf,
): Promise<string> {
  const { partnerId } = partner
  const from = uuidAfter(after)
  const { users, next } = await countUsers(context, partner, {
    month,
    finals,
    from,
    limit: USERS_OF_A_SLICE,
    now,
  })
  const upTo = users.at(-1)?.serviceId ?? after
  const lines = users.flatMap(user =>
    user.lines.map((line, place) => ({
      partnerId,
      month: month.name,
      serviceId: user.serviceId,
      place,
      line,
    })),
  )
  const isStored = await context.database.transaction(async tx => {
    const finalizedAt = next === undefined ? now : undefined
    const slice = { partnerId, month: month.name, after, upTo, finalizedAt, ...totalsOf(users) }
    if (!(await advanceStatement(tx, slice))) return false
    if (lines.length > 0) await insertLines(tx, lines)
    // A correction that was written while this month was counted may be missing in it: the next month takes it up.
    if (finalizedAt !== undefined)
      await forgetCorrections(tx, { partnerId, before: row.begun_at - MINUTE_MS })
    return true
  })
  if (!isStored) return 'taken by another process'
  return next === undefined ? 'final' : upTo
}
