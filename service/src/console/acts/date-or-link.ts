import { DAY_MS } from '../../calendar/calendar.ts'
import { erasedName } from '../../membership/reading/erased-name.ts'
import { accountsOf, mayAlone } from '../requests/ask.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { hasLivingLink, hasSeenPerson } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'

const SEEN_FOR_DAYS = 30
const DATE_SEEN =
  'You have seen this person’s birth date within the last 30 days, and with it you could open the link yourself.'
const LINK_MADE =
  'A link that you made for this person can still be used, or is in use, and with the birth date you could open it yourself.'

type Wanted = Pick<UserDetails, 'partner' | 'user'>

/**
 * Why an operator who has seen a person's birth date may make no link for that person; `undefined`: the link may be made, also
 * because a second person has allowed both. The link asks for nothing but the birth date, so with both one operator could act
 * as the person. An erasure and a new account of the same userid change nothing.
 */
export async function whyNoLink(
  visit: OperatorVisit,
  { partner, user }: Wanted,
): Promise<string | undefined> {
  const { database, real } = visit.context
  const by = await accountsOf(visit)
  const since = real() - SEEN_FOR_DAYS * DAY_MS
  const named = { ...user, erased: erasedName(partner, user.userid) }
  const isSeen = await hasSeenPerson(database, named, { by, since })
  return isSeen && !(await mayAlone(visit, 'dateandlink', user)) ? DATE_SEEN : undefined
}

/** Why an operator whose own link to a person still works, or is in use, may not see the birth date; see `whyNoLink`. */
export async function whyNoDate(
  visit: OperatorVisit,
  { user }: Pick<Wanted, 'user'>,
): Promise<string | undefined> {
  const { database, real } = visit.context
  const by = await accountsOf(visit)
  const isMade = await hasLivingLink(database, user, { by, now: real() })
  return isMade && !(await mayAlone(visit, 'dateandlink', user)) ? LINK_MADE : undefined
}
