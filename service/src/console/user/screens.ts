import { DAY_MS } from '../../calendar/calendar.ts'
import { readConsentRecords } from '../../membership/records/consents.ts'
import { listRetained } from '../../membership/records/retained-rows.ts'
import { record } from '../page/record.ts'
import type { Answer, Screen, Visit } from '../page/screen.ts'
import { reasonOf } from '../reason.ts'
import { readLinks, readSeen } from '../user-data/store.ts'
import { isErased, openUserDetails } from '../user-data/user-details.ts'
import { erasedPage, userPage } from './view.ts'

/** One user on one screen, and the same with the person's data shown. */
export const userScreens: readonly Screen[] = [
  {
    method: 'GET',
    path: '/users/:serviceid',
    role: 'viewer',
    section: 'users',
    answer: visit => show(visit),
  },
  {
    method: 'POST',
    path: '/users/:serviceid/person',
    role: 'support',
    section: 'users',
    answer: visit => show(visit, reasonOf(visit)),
  },
]

const YEAR_MS = 366 * DAY_MS

async function show(visit: Visit, reason?: string): Promise<Answer> {
  const serviceId = visit.params['serviceid'] ?? ''
  const before = Number(visit.query.get('before') ?? Number.NaN)
  const details = await openUserDetails(visit, serviceId, Number.isInteger(before) ? before : undefined)
  const { partner } = details
  const action = reason === undefined ? 'look at user' : 'look at person'
  await record(visit, {
    action,
    result: 'shown',
    partner,
    serviceId: details.serviceId,
    ...(reason === undefined ? {} : { reason }),
  })
  const seen = await readSeen(
    visit.context.database,
    { partnerId: partner.partnerId, serviceId: details.serviceId },
    visit.context.real() - YEAR_MS,
  )
  if (isErased(details)) {
    const kept = await listRetained(visit.context.database, partner.partnerId, details.serviceId)
    return erasedPage(visit, details, { seen, kept })
  }
  const { user } = details
  const [links, consents] = await Promise.all([
    readLinks(visit.context.database, user),
    user.consents.length > 0 ? readConsentRecords(visit.context.database, { partner, user }) : [],
  ])
  return userPage(visit, { details, links, consents, seen, isPersonShown: reason !== undefined })
}
