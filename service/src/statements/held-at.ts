import type { Instant } from '../calendar/calendar.ts'
import type { ExecutorContext } from '../membership/command.ts'
import { loadUsersWithDocuments } from '../membership/reading/load.ts'
import { loadedUserOf, personOf } from '../membership/reading/loaded-user.ts'
import { applyDueChanges } from '../membership/rules/apply-due.ts'
import { offerPeriodsOf, withCover } from '../membership/rules/offer-periods.ts'
import { versionsOf } from '../membership/rules/state.ts'
import type { Partner } from '../partners/partner.ts'
import type { Held } from './held.ts'
import type { Period } from './lines.ts'

type Context = Pick<ExecutorContext, 'database' | 'prepareTerms' | 'terms'>
type Periods = { readonly benefits: readonly Period[]; readonly offers: readonly Period[] }

/**
 * What a user held, with all that is due by `now` applied, and the catalogues of it in memory. A promise only where
 * something has to be read first.
 */
export function heldAt(
  context: Context,
  partner: Partner,
  held: Held,
  now: Instant,
): Periods | Promise<Periods> {
  if (held.isDue && held.userid !== undefined)
    return withDueChanges(context, partner, { held, userid: held.userid, now })
  const { today } = context.terms(partner, () => undefined)
  const { benefits, pending } = held
  const offers = pending ? [...held.offers, { ...pending, version: today.version }] : held.offers
  const preparing = context.prepareTerms([...benefits, ...offers].map(({ version }) => version))
  return preparing ? preparing.then(() => ({ benefits, offers })) : { benefits, offers }
}

async function withDueChanges(
  { database, prepareTerms, terms }: Context,
  partner: Partner,
  { held, userid, now }: { held: Held; userid: string; now: Instant },
): Promise<Periods> {
  const [row] = await loadUsersWithDocuments(database, [{ partnerId: partner.partnerId, userid }])
  if (!row) return held
  const loaded = loadedUserOf(row)
  await prepareTerms([...versionsOf(loaded.user), ...held.offers.map(({ version }) => version)])
  const ruling = terms(partner, () => personOf(loaded, partner, 'profile'))
  const changes = applyDueChanges(loaded.user, now, ruling)
  const { enrolments, pendingOffer } = changes.at(-1)?.after ?? loaded.user
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
    benefits: enrolments
      .filter(({ state }) => withCover.has(state))
      .map(({ benefit, version, startsAt, endsAt }) => ({ name: benefit, version, startsAt, endsAt })),
    offers: [...offers.values()],
  }
}
