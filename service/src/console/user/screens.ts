import { YEAR_MS } from '../../calendar/calendar.ts'
import { findRefusedCreates } from '../../membership/commands/find-refused-creates.ts'
import { readConsentRecords } from '../../membership/records/consents.ts'
import { listRetained } from '../../membership/records/retained-rows.ts'
import { recordDate } from '../acts/date-and-link.ts'
import { waitingAbout } from '../requests/store.ts'
import { record } from '../screen/record.ts'
import {
  type Answer,
  notHere,
  type OperatorVisit,
  onGet,
  onPost,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { readLinks, readSeen } from '../user-data/store.ts'
import { isErased, openUserDetails } from '../user-data/user-details.ts'
import { listFile } from '../views/list.ts'
import { benefitFile, consentList, linkList } from './lists.ts'
import { erasedPage, userPage } from './view.ts'

const FILES = ['benefits', 'consents', 'links'] as const

/** One user on one screen, and the same with the person's data shown. */
export const userScreens: readonly Screen[] = [
  onGet('/users/:serviceid', 'viewer', visit => show(visit)),
  onPost('/users/:serviceid/person', 'support', visit => show(visit, reasonOf(visit))),
  ...FILES.map(file => onGet(`/users/:serviceid/${file}.csv`, 'support', visit => download(visit, file))),
]

async function show(visit: OperatorVisit, reason?: string): Promise<Answer> {
  const { database, reader, real } = visit.context
  const before = Number(visit.query.get('before') ?? Number.NaN)
  const details = await openUserDetails(visit, undefined, Number.isInteger(before) ? before : undefined)
  const { partner, serviceId } = details
  const action = reason === undefined ? 'look at user' : 'look at person'
  if (reason === undefined || isErased(details))
    await record(visit, { action, result: 'shown', partner, serviceId, reason })
  else {
    const refused = await recordDate(visit, details, { action, result: 'shown' })
    if (refused) return refused
  }
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

/** A table of the page as a file, without the person's data. */
async function download(visit: OperatorVisit, file: (typeof FILES)[number]): Promise<Answer> {
  const details = await openUserDetails(visit)
  if (isErased(details)) throw notHere('user')
  const { partner, serviceId, user } = details
  const { database } = visit.context
  const deed = {
    file: `${file}-${serviceId}.csv`,
    action: `export ${file} of user`,
    partner,
    serviceId,
  }
  if (file === 'links') return listFile(visit, linkList(details, await readLinks(database, user)), deed)
  if (file === 'benefits') return listFile(visit, benefitFile(details), deed)
  const consents = await readConsentRecords(database, { partner, user })
  return listFile(visit, consentList(details, consents, false), deed)
}
