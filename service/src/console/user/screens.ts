import { readConsentRecords } from '../../membership/commands/consent-records.ts'
import { record } from '../page/record.ts'
import type { Answer, Screen, Visit } from '../page/screen.ts'
import { reasonOf } from '../reason.ts'
import { isErased, openDossier } from './dossier.ts'
import { readLinks, readSeen } from './store.ts'
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

const YEAR_MS = 366 * 86_400_000

async function show(visit: Visit, reason?: string): Promise<Answer> {
  const serviceId = visit.params['serviceid'] ?? ''
  const before = Number(visit.query.get('before') ?? Number.NaN)
  const dossier = await openDossier(visit, serviceId, Number.isInteger(before) ? before : undefined)
  const { partner } = dossier
  const action = reason === undefined ? 'look at user' : 'look at person'
  await record(visit, {
    ...{ action, result: 'shown', partner, serviceId: dossier.serviceId },
    ...(reason === undefined ? {} : { reason }),
  })
  const seen = await readSeen(
    visit.context.database,
    { partnerId: partner.partnerId, serviceId: dossier.serviceId },
    visit.context.real() - YEAR_MS,
  )
  if (isErased(dossier)) return erasedPage(visit, dossier, seen)
  const { user } = dossier
  const [links, consents] = await Promise.all([
    readLinks(visit.context.database, user),
    user.consents.length > 0 ? readConsentRecords(visit.context.database, { partner, user }) : [],
  ])
  return userPage(visit, { dossier, links, consents, seen, isPersonShown: reason !== undefined })
}
