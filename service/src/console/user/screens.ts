import { YEAR_MS } from '../../calendar/calendar.ts'
import { findRefusedCreates } from '../../membership/commands/find-refused-creates.ts'
import { readConsentRecords } from '../../membership/records/consents.ts'
import { listRetained } from '../../membership/records/retained-rows.ts'
import { waitingAbout } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onGet, onPost, reasonOf, type Screen } from '../screen/screen.ts'
import { isErased } from '../user-data/living-user.ts'
import { readLinks, readSeen } from '../user-data/store.ts'
import { openUserDetails } from '../user-data/user-details.ts'
import { erasedPage, userPage } from './view.ts'

/** One user on one screen, and the same with the person's data shown. */
export const userScreens: readonly Screen[] = [
  onGet('/users/:serviceid', 'viewer', visit => show(visit)),
  onPost('/users/:serviceid/person', 'support', visit => show(visit, reasonOf(visit))),
]

async function show(visit: OperatorVisit, reason?: string): Promise<Answer> {
  const { database, reader, real } = visit.context
  const before = Number(visit.query.get('before') ?? Number.NaN)
  const details = await openUserDetails(visit, Number.isInteger(before) ? before : undefined)
  const { partner, serviceId } = details
  const action = reason === undefined ? 'look at user' : 'look at person'
  await record(visit, { action, result: 'shown', partner, serviceId, reason })
  const { partnerId } = partner
  const seen = await readSeen(database, { partnerId, serviceId }, real() - YEAR_MS)
  if (isErased(details)) {
    const kept = await listRetained(database, partnerId, serviceId)
    return erasedPage(visit, details, { seen, kept })
  }
  const { user } = details
  const [links, refused, waiting, consents, insurerLines] = await Promise.all([
    readLinks(database, user),
    findRefusedCreates(database, partner, user.userid),
    visit.isSupport ? waitingAbout(database, user, real()) : [],
    user.consents.length > 0 ? readConsentRecords(database, { partner, user }) : [],
    reader.insurerLines(partner, user),
  ])
  return userPage(visit, {
    details,
    links,
    consents,
    seen,
    refused,
    waiting,
    insurerLines,
    isPersonShown: reason !== undefined,
  })
}
