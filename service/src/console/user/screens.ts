import { YEAR_MS } from '../../calendar/calendar.ts'
import { findRefusedCreates } from '../../membership/commands/find-refused-creates.ts'
import { readConsentRecords } from '../../membership/records/consents.ts'
import { listRetained } from '../../membership/records/retained-rows.ts'
import { hasRole } from '../operators/operator.ts'
import { reasonOf } from '../reason.ts'
import { waitingAbout } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import { type Answer, notHere, type Screen, type Visit } from '../screen/screen.ts'
import { readLinks, readSeen } from '../user-data/store.ts'
import { isErased, openUserDetails } from '../user-data/user-details.ts'
import { listFile } from '../views/list.ts'
import { benefitFile, consentList, linkList } from './lists.ts'
import { erasedPage, userPage } from './view.ts'

const FILES = ['benefits', 'consents', 'links'] as const

/** One user on one screen, and the same with the person's data shown. */
export const userScreens: readonly Screen[] = [
  { method: 'GET', path: '/users/:serviceid', role: 'viewer', answer: visit => show(visit) },
  {
    method: 'POST',
    path: '/users/:serviceid/person',
    role: 'support',
    answer: visit => show(visit, reasonOf(visit)),
  },
  ...FILES.map(
    (file): Screen => ({
      method: 'GET',
      path: `/users/:serviceid/${file}.csv`,
      role: 'support',
      answer: visit => download(visit, file),
    }),
  ),
]

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
  const sees = hasRole(visit.operator, 'support')
  const [links, refused, waiting, consents] = await Promise.all([
    readLinks(visit.context.database, user),
    findRefusedCreates(visit.context.database, partner, user.userid),
    sees ? waitingAbout(visit.context.database, user, visit.context.real()) : [],
    user.consents.length > 0 ? readConsentRecords(visit.context.database, { partner, user }) : [],
  ])
  return userPage(visit, {
    details,
    links,
    consents,
    seen,
    refused,
    waiting,
    isPersonShown: reason !== undefined,
  })
}

/** A table of the page as a file, without the person's data. */
async function download(visit: Visit, file: (typeof FILES)[number]): Promise<Answer> {
  const details = await openUserDetails(visit, visit.params['serviceid'] ?? '')
  if (isErased(details)) throw notHere('user')
  const { partner, serviceId, user } = details
  const { database } = visit.context
  await record(visit, { action: `export ${file} of user`, partner, serviceId })
  const shown = {
    details,
    links: file === 'links' ? await readLinks(database, user) : [],
    consents: file === 'consents' ? await readConsentRecords(database, { partner, user }) : [],
    seen: [],
    refused: [],
    waiting: [],
    isPersonShown: false,
  }
  const at = { path: `/users/${serviceId}`, filters: {} }
  const name = `${file}-${serviceId}.csv`
  if (file === 'links') return listFile({ ...at, ...linkList(shown) }, visit.query, name)
  if (file === 'consents') return listFile({ ...at, ...consentList(shown) }, visit.query, name)
  return listFile({ ...at, ...benefitFile(shown) }, visit.query, name)
}
