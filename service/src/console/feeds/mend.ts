import { settleLine } from '../../feeds/answer-store.ts'
import { asideReasonOf } from '../../feeds/compare-list.ts'
import { openDifferences, setAside } from '../../feeds/difference-store.ts'
import { sayAgain } from '../../feeds/list-here.ts'
import { partnersOf, seenPartners } from '../partners.ts'
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
import { keyOf, requiredFeed } from './seen.ts'

/** What is done with a refused line, or with a difference. */
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
  const { database, directory, real } = visit.context
  const open = await openDifferences(database, feed.feed, seenPartners(visit))
  const found = open.find(one => keyOf(one) === visit.form.get('one'))
  if (!found) throw notHere('difference')
  const { serviceId, kind } = found
  const partner = await directory.partner(found.partnerId)
  const reason = asideReasonOf(visit.form.get('what'))
  if (!reason && (serviceId === undefined || kind === 'twice'))
    throw new ConsoleRefusal(
      422,
      'It cannot be said again',
      'Only the insurer can mend what only it has, or has twice.',
    )
  await database.transaction(async tx => {
    if (reason) await setAside(tx, feed.feed, { ...found, reason, at: real() })
    else await sayAgain(tx, feed, { ...found, serviceId: serviceId ?? '' })
    const action = reason ? `feed aside ${reason}` : 'feed send again'
    await tx.query(recordAlongside(visit, { action, partner, serviceId }))
  })
  return { to: `/feeds/${feed.feed}` }
}
