import type { MonthName } from '../calendar/month.ts'
import type { Partner } from '../partners/partner.ts'
import { type CountContext, countUsers } from './count.ts'
import type { Line } from './lines.ts'
import type { Months } from './months.ts'
import { loadFinalLines } from './store.ts'

/** A line of one user, and the statement that has it. */
export type LineOfUser = { readonly month: MonthName; readonly isFinal: boolean; readonly line: Line }

/** All lines of one user in the listed months, newest month first; those of open months as they would be now. */
export async function linesOfUser(
  context: CountContext,
  partner: Partner,
  { serviceId, months }: { serviceId: string; months: Months },
): Promise<LineOfUser[]> {
  const { listed, finals, oldestOpen, now } = months
  const names = listed.map(({ name }) => name)
  const isFinal = (name: MonthName) => finals.some(final => final.month === name)
  const query = { partnerId: partner.partnerId, serviceId, months: names.filter(isFinal) }
  const found: LineOfUser[] = (await loadFinalLines(context.database, query)).map(one => ({
    ...one,
    isFinal: true,
  }))
  for (const month of listed.filter(({ name }) => !isFinal(name))) {
    const taken = month.name === oldestOpen.name ? finals : undefined
    const count = { month, finals: taken, from: serviceId, limit: 1, now }
    const [user] = (await countUsers(context, partner, count)).users
    if (user?.serviceId !== serviceId) continue
    found.push(...user.lines.map(line => ({ month: month.name, isFinal: false, line })))
  }
  const order = (one: LineOfUser) => names.indexOf(one.month)
  return found.sort((a, b) => order(a) - order(b))
}
