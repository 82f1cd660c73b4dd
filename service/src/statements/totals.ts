import type { Statement } from '@benefit-enrolment/contract'
import { type Instant, timestampOrNull } from '../calendar/calendar.ts'
import type { Month } from '../calendar/month.ts'
import { inTurn } from '../http/shedding/long-reads.ts'
import type { Partner } from '../partners/partner.ts'
import { NIL_UUID } from '../vault/uuid.ts'
import { type Count, type CountContext, type Counted, type CountedUser, countUsers } from './count.ts'
import { hasChangedSince } from './held.ts'
import type { Line } from './lines.ts'
import type { Months } from './months.ts'

/** What the lines of a month come to for the partner. */
export type Totals = { readonly users: number; readonly personcents: number; readonly partnercents: number }

/** Whether the partner sees a line: all but adjustments of the premium alone. */
export function isShown({ kind, personcents, partnercents }: Line): boolean {
  return kind !== 'adjustment' || personcents !== 0 || partnercents !== 0
}

/** The totals of some users. */
export function totalsOf(users: readonly CountedUser[]): Totals {
  let [counted, personcents, partnercents] = [0, 0, 0]
  for (const { lines } of users) {
    if (lines.some(isShown)) counted += 1
    for (const line of lines) {
      if (line.takenby === 'partner') personcents += line.personcents
      partnercents += line.partnercents
    }
  }
  return { users: counted, personcents, partnercents }
}

/** Counts the totals of months that are not final, and remembers them until the partner's users or the catalogue change. */
export type OpenTotals = (partner: Partner, month: Month, months: Months) => Promise<Totals>

const USERS_OF_A_STEP = 250
const MOST_REMEMBERED = 1000
/** A change carries the instant at which it was decided, and is committed within two seconds of it. */
const COMMITTED_WITHIN_MS = 2000

/** Opens the memory of totals. */
export function openTotals(context: CountContext): OpenTotals {
  type Remembered = { readonly totals: Totals; readonly at: Instant; readonly state: string }
  const remembered = new Map<string, Remembered>()
  return async (partner, month, { now, finals, oldestOpen }) => {
    const { partnerId } = partner
    const name = `${partnerId} ${month.name}`
    await context.prepareTerms([])
    // What is still to come is priced by today's catalogue.
    const { today } = context.terms(partner, () => undefined)
    const state = `${month.zone} ${finals.length} ${today.version}`
    const known = remembered.get(name)
    const since = (known?.at ?? 0) - COMMITTED_WITHIN_MS
    if (known?.state === state && !(await hasChangedSince(context.database, { partnerId, since, now })))
      return known.totals
    let totals: Totals = { users: 0, personcents: 0, partnercents: 0 }
    const taken = month.name === oldestOpen.name ? finals : undefined
    for (let from: string | undefined = NIL_UUID; from !== undefined; ) {
      const count: Count = { month, finals: taken, from, limit: USERS_OF_A_STEP, now }
      const step: Counted = await inTurn(context.turn, partner.partnerId, () =>
        countUsers(context, partner, count),
      )
      totals = sumOf(totals, totalsOf(step.users))
      from = step.next
    }
    if (remembered.size >= MOST_REMEMBERED) remembered.clear()
    remembered.set(name, { totals, at: now, state })
    return totals
  }
}

/** The totals of two groups of users. */
export function sumOf(a: Totals, b: Totals): Totals {
  return {
    users: a.users + b.users,
    personcents: a.personcents + b.personcents,
    partnercents: a.partnercents + b.partnercents,
  }
}

/** A partner's months as the API lists them, newest first. */
export async function viewStatements(
  totalsOf: OpenTotals,
  partner: Partner,
  months: Months,
): Promise<Statement[]> {
  const finals = new Map(months.finals.map(final => [final.month, final]))
  const statements: Statement[] = []
  for (const month of months.listed) {
    const final = finals.get(month.name)
    const totals = final
      ? { users: final.users, personcents: final.person_cents, partnercents: final.partner_cents }
      : await totalsOf(partner, month, months)
    statements.push({
      month: month.name,
      status: final ? 'final' : 'open',
      ...totals,
      finalizedat: timestampOrNull(final?.finalized_at),
    })
  }
  return statements
}
