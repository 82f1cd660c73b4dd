import { DAY_MS } from '../../calendar/calendar.ts'
import { erasedName } from '../../membership/reading/erased-name.ts'
import type { UserNames } from '../../membership/reading/reader.ts'
import { accountsOf, mayAlone } from '../requests/ask.ts'
import type { OperatorVisit } from '../screen/screen.ts'
import { hasLivingLink, hasSeenPerson, SHOWING_DATE, usersTouched } from '../user-data/store.ts'
import type { UserDetails } from '../user-data/user-details.ts'

const SEEN_FOR_DAYS = 30
const DATE_UNKNOWN =
  'No birth date of this person is known, so the page would ask for none, and you could open the link yourself.'
const DATE_SEEN =
  'You have seen this birth date within the last 30 days, and with it you could open the link yourself.'
const LINK_MADE =
  'A link that you made for this person can still be used, or is in use, and with the birth date you could open it yourself.'

type Wanted = Pick<UserDetails, 'partner' | 'user'>

/**
 * Why an operator who has seen a person's birth date may make no link for that person, and nobody for one whose birth date is
 * not known; `undefined`: the link may be made, also because a second person has allowed both. The link asks for nothing but the
 * birth date, so with both one operator could act as the person. A new account of an erased userid changes nothing, nor does
 * another userid at the same partner: the same birth date is taken for the same person.
 */
export async function whyNoLink(
  visit: OperatorVisit,
  { partner, user }: Wanted,
): Promise<string | undefined> {
  const { database } = visit.context
  if (await mayAlone(visit, 'dateandlink', user)) return undefined
  const dates = await datesOf(visit, { partner, user })
  if (dates.length === 0) return DATE_UNKNOWN
  const done = await doneBy(visit)
  const named = { ...user, erased: erasedName(partner, user.userid) }
  if (await hasSeenPerson(database, named, done)) return DATE_SEEN
  const seen = await usersTouched(database, partner.partnerId, { ...done, actions: SHOWING_DATE })
  return (await ofSameDate(visit, { partner, dates, users: seen })).length > 0 ? DATE_SEEN : undefined
}

/** Why an operator whose own link to a person still works, or is in use, may not see the birth date; see `whyNoLink`. */
export async function whyNoDate(
  visit: OperatorVisit,
  { partner, user }: Wanted,
): Promise<string | undefined> {
  const { database, real } = visit.context
  if (await mayAlone(visit, 'dateandlink', user)) return undefined
  const done = await doneBy(visit)
  const dates = await datesOf(visit, { partner, user })
  const helped = await usersTouched(database, partner.partnerId, { ...done, actions: ['make link'] })
  for (const one of [user, ...(await ofSameDate(visit, { partner, dates, users: helped }))])
    if (await hasLivingLink(database, one, { by: done.by, now: real() })) return LINK_MADE
  return undefined
}

async function doneBy(visit: OperatorVisit): Promise<{ by: string[]; since: number }> {
  return { by: await accountsOf(visit), since: visit.context.real() - SEEN_FOR_DAYS * DAY_MS }
}

/** The dates that the page takes for a person's: the one that the partner sent, and the one to which the person corrected it. */
async function datesOf(
  { context }: OperatorVisit,
  { partner, user }: { readonly partner: Wanted['partner']; readonly user: UserNames },
): Promise<string[]> {
  const people = await context.reader.documents(partner, user)
  return (['profile', 'prefill'] as const).flatMap(kind => people.get(kind)?.dob ?? [])
}

async function ofSameDate(
  visit: OperatorVisit,
  {
    partner,
    dates,
    users,
  }: { partner: Wanted['partner']; dates: readonly string[]; users: readonly UserNames[] },
): Promise<UserNames[]> {
  const all = await Promise.all(
    users.map(async user => ({ user, own: await datesOf(visit, { partner, user }) })),
  )
  return all.filter(({ own }) => own.some(date => dates.includes(date))).map(({ user }) => user)
}
