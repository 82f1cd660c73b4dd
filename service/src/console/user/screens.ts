import { YEAR_MS } from '../../calendar/calendar.ts'
import { readConsentRecords } from '../../membership/records/consents.ts'
import { findRefusedCreates } from '../../membership/records/refused-creates.ts'
import { listRetained } from '../../membership/records/retained-rows.ts'
import { isInForce } from '../../membership/rules/state.ts'
import { monthsOf } from '../../statements/months.ts'
import { linesOfUser } from '../../statements/user-lines.ts'
import { waitingAbout } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onGet, onPost, reasonOf, type Screen } from '../screen/screen.ts'
import { isErased } from '../user-data/living-user.ts'
import { readLinks, readSeen } from '../user-data/store.ts'
import { openUserDetails, type UserDetails } from '../user-data/user-details.ts'
import { erasedPage, userPage } from './view.ts'

/** One user on one screen, and the same with the person's data shown. */
export const userScreens: readonly Screen[] = [
  onGet('/users/:serviceid', 'look', visit => show(visit)),
  onPost('/users/:serviceid/person', 'support', visit => show(visit, reasonOf(visit))),
]

async function show(visit: OperatorVisit, reason?: string): Promise<Answer> {
  const { database, reader, real } = visit.context
  const before = Number(visit.query.get('before') ?? Number.NaN)
  const details = await openUserDetails(visit, Number.isInteger(before) ? before : undefined)
  const { partner, serviceId } = details
  const insurerLines = isErased(details) ? [] : await reader.insurerLines(partner, details.user)
  // What an insurer wrote may be a name or a birth date, and support sees it without a reason.
  const isText = visit.may('support') && insurerLines.some(({ answer }) => answer && answer.text !== '')
  const action = reason === undefined && !isText ? 'look at user' : 'look at person'
  await record(visit, { action, result: 'shown', partner, serviceId, reason })
  const { partnerId } = partner
  const seen = await readSeen(database, { partnerId, serviceId }, real() - YEAR_MS)
  if (isErased(details)) {
    const kept = await listRetained(database, partnerId, serviceId)
    return erasedPage(visit, details, { seen, kept })
  }
  const { user } = details
  const [links, refused, waiting, consents, month] = await Promise.all([
    readLinks(database, user),
    findRefusedCreates(database, partner, user.userid),
    visit.may('support') ? waitingAbout(database, user, real()) : [],
    user.consents.length > 0 ? readConsentRecords(database, { partner, user }) : [],
    user.enrolments.some(isInForce) ? paidThisMonth(visit, details) : undefined,
  ])
  return userPage(visit, {
    details,
    month,
    links,
    consents,
    seen,
    refused,
    waiting,
    insurerLines,
    isPersonShown: reason !== undefined,
  })
}

/** What the lines of the running month come to for the person. */
async function paidThisMonth(
  { context: { counting } }: OperatorVisit,
  { partner, serviceId }: UserDetails,
): Promise<{ name: string; cents: number } | undefined> {
  const months = await monthsOf(counting, partner)
  const listed = months.listed.slice(0, 1)
  const lines = await linesOfUser(counting, partner, { serviceId, months: { ...months, listed } })
  return (
    listed[0] && { name: listed[0].name, cents: lines.reduce((sum, { line }) => sum + line.personcents, 0) }
  )
}
