import type { Catalogue } from '../../catalogue/model.ts'
import { type Published, withCandidate } from '../../catalogue/published.ts'
import type { Database } from '../../db/database.ts'
import { loadedUserOf, loadUsersWithDocuments, personOf } from '../../membership/reading/load.ts'
import { openTerms } from '../../membership/reading/open-terms.ts'
import { residenceOf } from '../../membership/rules/person.ts'
import { versionsOf } from '../../membership/rules/state.ts'
import { partnerOf } from '../../partners/keys.ts'
import type { Clock, Partner } from '../../partners/partner.ts'
import { listPartners } from '../../partners/store.ts'
import type { Keyring } from '../../vault/keyring.ts'
import { livingUsers } from '../operator/members.ts'
import { impactOn } from './impact.ts'
import { addUser, type ImpactCounts, noCounts } from './impact-tally.ts'

/** What publishing a catalogue would do, as far as it has been counted. */
export type Impact = {
  /** The version that would be published, and the one that it would follow; 0: none. */
  readonly version: number
  readonly follows: number
  /** The catalogue with which the new one is compared. */
  readonly today: Catalogue
  readonly next: Catalogue
  /** By partner, including those without users. */
  readonly partners: readonly { readonly partner: Partner; readonly counts: ImpactCounts }[]
}

/** What counting needs from the other parts of the service. */
type CountContext = {
  readonly database: Database
  readonly keyring: Keyring
  readonly published: Published
  readonly clock: Clock
}

const USERS_A_BATCH = 200

/**
 * Counts what publishing would do to the existing users, by partner. It reads all users in portions, and writes
 * nothing. It compares with the version that is newest when it begins.
 */
export async function countImpact(context: CountContext, next: Catalogue): Promise<Impact> {
  const { database, keyring, clock } = context
  await context.published.prepare([])
  const pinned = withCandidate(context.published, undefined)
  const planned = withCandidate(context.published, next)
  const before = openTerms({ published: pinned, real: clock.real })
  const after = openTerms({ published: planned, real: clock.real })
  const partners = (await listPartners(database)).map(row => ({
    partner: partnerOf(row, keyring),
    counts: noCounts(),
  }))
  for (const { partner, counts } of partners) {
    const now = clock.now(partner)
    for await (const names of livingUsers(database, partner, USERS_A_BATCH)) {
      const users = (await loadUsersWithDocuments(database, names)).map(loadedUserOf)
      await before.prepareTerms(users.flatMap(({ user }) => versionsOf(user)))
      for (const loaded of users) {
        const profile = () => personOf(loaded, partner, 'profile')
        const impact = impactOn(loaded.user, {
          before: before.terms(partner, profile),
          after: after.terms(partner, profile),
          now,
          applicant: residenceOf(profile() ?? personOf(loaded, partner, 'prefill')),
        })
        if (impact) addUser(counts, impact)
      }
    }
  }
  const { version: follows, catalogue: today } = pinned.today()
  return { version: planned.today().version, follows, today, next, partners }
}
