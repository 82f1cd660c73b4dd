import { DAY_MS } from '../../calendar/calendar.ts'
import type { User } from '../../membership/rules/state.ts'
import { ConsoleRefusal, type Visit } from '../screen/screen.ts'
import { hasLivingLink, hasSeenPerson } from './store.ts'

const SEEN_FOR_DAYS = 30

/**
 * A link by an operator asks for nothing but the birth date. So whoever has seen that date makes no link for the person,
 * and whoever has made one does not see the date as long as the link or its session lives: otherwise one operator could act
 * as the person. The refusal says that a second operator may.
 */
export async function refuseLinkAfterDate({ context, operator }: Visit, user: User): Promise<void> {
  const since = context.real() - SEEN_FOR_DAYS * DAY_MS
  if (await hasSeenPerson(context.database, user, { by: operator.operatorId, since }))
    throw new ConsoleRefusal(409, 'Not done', DATE_SEEN)
}

/** The other way round, see above. */
export async function refuseDateAfterLink({ context, operator }: Visit, user: User): Promise<void> {
  if (await hasLivingLink(context.database, user, { by: operator.operatorId, now: context.real() }))
    throw new ConsoleRefusal(409, 'Not shown', LINK_MADE)
}

const DATE_SEEN =
  'You have seen this person’s birth date within the last 30 days, and with it you could open the link yourself. Ask another operator to make it.'
const LINK_MADE =
  'A link that you made for this person can still be used, or is in use, and with the birth date you could open it yourself. Ask another operator to look.'
