import { openDifferences } from '../../feeds/difference-store.ts'
import { sayAgain } from '../../feeds/list-here.ts'
import { recordAlongside } from '../screen/record.ts'
import {
  type Answer,
  ConsoleRefusal,
  notHere,
  type OperatorVisit,
  onChange,
  type Screen,
} from '../screen/screen.ts'
import { keyOf, requiredFeed, seenPeople } from './seen.ts'

/** What is done with a difference: it is said again; what is wrong here is corrected by an act on the user. */
export const mendScreens: readonly Screen[] = [onChange('/feeds/:feed/differ', 'support', differ)]

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
