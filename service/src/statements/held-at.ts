import type { Instant } from '../calendar/calendar.ts'
import type { ExecutorContext } from '../membership/command.ts'
import { loadedUserOf, loadUsersWithDocuments, personOf } from '../membership/reading/load.ts'
import { applyDueChanges } from '../membership/rules/apply-due.ts'
import { coveringEnrolments, withPendingCovers } from '../membership/rules/covers.ts'
import { daysOf } from '../membership/rules/family.ts'
import { offerPeriodsOf } from '../membership/rules/history.ts'
import { versionsOf } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import { type Holder, loadHeld } from './held.ts'
import type { Period } from './lines.ts'

type Context = Pick<ExecutorContext, 'database' | 'prepareTerms' | 'terms'>
type Periods = { readonly benefits: readonly Period[]; readonly offers: readonly Period[] }

/**
 * What a user held, and will hold if nothing changes, with all that is due by `now` applied, and the catalogues of it in memory.
 */
export async function heldAt(
  context: Context,
  partner: Partner,
  { serviceId, userid, held }: Holder,
  now: Instant,
): Promise<Periods> {
  if (held.isPartial && userid !== undefined)
    return withComingChanges(context, partner, { serviceId, userid, now })
  const { today } = context.terms(partner, () => undefined)
  const { benefits, pending } = held
  const offers = pending ? [...held.offers, { ...pending, version: today.version }] : held.offers
  await context.prepareTerms(
    [...benefits, ...offers].flatMap(({ version, tiersFrom }) => [version, tiersFrom?.version ?? version]),
  )
  return { benefits, offers }
}

async function withComingChanges(
  { database, prepareTerms, terms }: Context,
  partner: Partner,
  { serviceId, userid, now }: { serviceId: string; userid: string; now: Instant },
): Promise<Periods> {
  const { partnerId } = partner
  const [row] = await loadUsersWithDocuments(database, [{ partnerId, userid }])
  // With the instants at which periods really began, by which a due change names them.
  const [holder] = await loadHeld(database, { partnerId, from: serviceId, limit: 1, month: undefined, now })
  if (!row || !holder) return { benefits: [], offers: [] }
  const { held } = holder
  const loaded = loadedUserOf(row)
  await prepareTerms([...versionsOf(loaded.user), ...held.offers.map(({ version }) => version)])
  const ruling = terms(partner, () => personOf(loaded, partner, 'profile'))
  const changes = applyDueChanges(loaded.user, now, ruling)
  const user = withPendingCovers(changes.at(-1)?.after ?? loaded.user, ruling)
  const { pendingOffer } = user
  const pending = pendingOffer
    ? [
        {
          name: pendingOffer.name,
          version: ruling.today.version,
          startsAt: pendingOffer.at,
          endsAt: undefined,
        },
      ]
    : []
  const offers = new Map(
    [...held.offers, ...changes.flatMap(offerPeriodsOf), ...pending].map(period => [
      `${period.name} ${period.startsAt}`,
      period,
    ]),
  )
  return {
    benefits: coveringEnrolments(user).map(one => ({
      ...{ name: one.benefit, version: one.version, startsAt: one.startsAt, endsAt: one.endsAt },
      tiersFrom: one.tiersFrom,
      covered: one.covered?.map(({ relationship, ...days }) => ({
        relationship,
        ...daysOf(one, { relationship, ...days }),
      })),
    })),
    offers: [...offers.values()],
  }
}
