import { noPartner } from '../../audit/entries.ts'
import type { KeptDifference } from '../../feeds/difference-store.ts'
import type { Feed } from '../../feeds/feed.ts'
import { newestFeeds } from '../../feeds/store.ts'
import { partnersOf } from '../partners.ts'
import { notHere, type OperatorVisit } from '../screen/screen.ts'

/** The partners whose people an operator sees, and whether also those whom only an insurer knows. */
export async function seenPeople(visit: OperatorVisit) {
  return { partners: await partnersOf(visit), ofNobody: visit.operator.partners === undefined }
}

/** The feed of the address. Throws the refusal of an unknown one. */
export async function requiredFeed({ context, params }: OperatorVisit): Promise<Feed> {
  const feed = (await newestFeeds(context.database))?.feeds.find(one => one.feed === params['feed'])
  if (!feed) throw notHere('feed')
  return feed
}

/** By what a posted form names a difference. */
export function keyOf({
  kind,
  subject,
  partnerId,
}: Pick<KeptDifference, 'kind' | 'subject' | 'partnerId'>): string {
  return `${kind} ${partnerId === noPartner ? 'none' : partnerId} ${subject.toString('base64url')}`
}
