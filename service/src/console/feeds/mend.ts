import { settleLine } from '../../feeds/answer-store.ts'
import { openDifferences } from '../../feeds/difference-store.ts'
import { sayAgain } from '../../feeds/list-here.ts'
import { partnersOf } from '../partners.ts'
import { recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onChange,
  reasonOf,
  type Screen,
} from '../screen/screen.ts'
import { keyOf, requiredFeed, seenPeople } from './seen.ts'

/** What is done with a refused line, or with a difference, which is said again; who is wrong here is corrected by an act. */
export const mendScreens: readonly Screen[] = [
  onChange('/feeds/:feed/settle', 'support', settle),
  onChange('/feeds/:feed/differ', 'support', differ),
]

async function settle(visit: OperatorVisit): Promise<Answer> {
  const { feed } = await requiredFeed(visit)
  const reason = reasonOf(visit)
  const [, run = '0', line = '0'] = /^(\d{1,9})-(\d{1,9})$/.exec(visit.form.get('one') ?? '') ?? []
  const partners = await partnersOf(visit)
  await visit.context.database.transaction(async tx => {
    for (const partner of partners) {
      const of = { partnerId: partner.partnerId, feed, run: Number(run), line: Number(line) }
      const serviceId = await settleLine(tx, of)
      if (serviceId === undefined) continue
      await tx.query(recordAlongside(visit, { action: 'feed settle', partner, serviceId, reason }))
      return
    }
    throw notHere('refused line')
  })
  return { to: `/feeds/${feed}` }
}

async function differ(visit: OperatorVisit): Promise<Answer> {
  const feed = await requiredFeed(visit)
  const { database, directory } = visit.context
  const open = await openDifferences(database, feed.feed, await seenPeople(visit))
  const found = open.find(one => keyOf(one) === visit.form.get('one'))
  if (!found) throw notHere('difference')
  const { serviceId, kind } = found
  const partner = await directory.partner(found.partnerId)
  if (serviceId === undefined || kind === 'twice')
    throw new ConsoleRefusal(
      422,
      'It cannot be said again',
      'Only the insurer can mend what only it has, or has twice.',
    )
  await database.transaction(async tx => {
    await sayAgain(tx, feed, { ...found, serviceId })
    await tx.query(recordAlongside(visit, { action: 'feed send again', partner, serviceId }))
  })
  return { to: `/feeds/${feed.feed}` }
}
