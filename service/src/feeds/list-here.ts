import { dateAt } from '../calendar/calendar.ts'
import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { dataKeyOf, loadedUserOf, loadUsersWithDocuments, personOf } from '../membership/reading/load.ts'
import { loadTold, readMemberIds } from '../membership/records/insurer-lines.ts'
import { MEMBER } from '../membership/rules/covers.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import type { DifferenceKind, ListedCover } from './compare-list.ts'
import type { Feed } from './feed.ts'
import { namesIn } from './file-format.ts'
import { readFormer } from './walk.ts'
import { FIRST_SERVICE_ID, forgetSeen } from './walk-store.ts'

/** How many people are opened at once. */
const OPENED = 250

/** A cover of which an insurer was told, and its person. */
export type CoverHere = ListedCover & {
  readonly partnerId: string
  readonly userid: string
  readonly dataKey: Buffer | undefined
}

/**
 * All covers of which the insurer of a feed was told and that it did not refuse, earliest first for each person, with names as the
 * feed's files have them.
 */
export async function coversHere(
  db: Executor,
  partners: readonly Partner[],
  feed: Feed,
): Promise<CoverHere[]> {
  const { insurer, benefits } = feed
  const covers: CoverHere[] = []
  for (const partner of partners) {
    const { partnerId } = partner
    for (let after = FIRST_SERVICE_ID; ; ) {
      const people = await findTold(db, { partnerId, insurer, benefits, after })
      const ids = people.map(({ service_id }) => service_id)
      const loaded = await loadUsersWithDocuments(
        db,
        people.map(({ userid }) => ({ partnerId, userid })),
      )
      const users = new Map(loaded.map(row => [row.service_id, loadedUserOf(row)]))
      const former = await readFormer(db, partner, [...users.values()])
      const members = await readMemberIds(db, partnerId, ids)
      const told = (await loadTold(db, partnerId, ids)).sort((a, b) => (a.startsOn < b.startsOn ? -1 : 1))
      for (const { serviceId, benefit, person, startsOn, endsOn, isVoid, insurer: whose } of told) {
        const mine = users.get(serviceId)
        if (!mine || isVoid || whose !== insurer || !benefits.includes(benefit)) continue
        const member = personOf(mine, partner, 'profile')
        const dependants = [...(member?.dependants ?? []), ...(former.get(serviceId) ?? [])]
        const dependant = dependants.find(({ dependantid }) => dependantid === person)
        const { firstname = '', lastname = '', dob = '' } = (person === MEMBER ? member : dependant) ?? {}
        const dataKey = dataKeyOf(mine, partner)
        const memberId = members(dataKey, mine.user)(benefit)
        const details = { ...namesIn(feed, { firstname, lastname }), dob }
        covers.push({
          partnerId,
          userid: mine.user.userid,
          dataKey,
          serviceId,
          memberId,
          benefit,
          person,
          startsOn,
          endsOn: endsOn ?? '',
          details,
        })
      }
      if (people.length < OPENED) break
      after = ids.at(-1) ?? after
    }
  }
  return covers
}

/**
 * Tells whether an end lies behind: by the clock and zone of the partner whose cover it is, and of nobody's by those of all
 * partners.
 */
export function endedFor(
  partners: readonly Partner[],
  clock: Clock,
): (endsOn: ListedCover['endsOn'], own?: CoverHere) => boolean {
  const days = new Map(partners.map(one => [one.partnerId, dateAt(clock.now(one), one.timezone)]))
  const [earliest = ''] = [...days.values()].sort()
  return (endsOn, own) => !!endsOn && endsOn < ((own && days.get(own.partnerId)) ?? earliest)
}

function findTold(
  db: Executor,
  of: {
    readonly partnerId: string
    readonly insurer: string
    readonly benefits: readonly string[]
    readonly after: string
  },
): Promise<{ service_id: string; userid: string }[]> {
  return db.query(sql`
    select u.service_id, u.userid from users u
    where u.partner_id = ${of.partnerId} and u.service_id > ${of.after}::uuid and u.is_current and exists (
      select 1 from insurer_lines l
      where l.partner_id = u.partner_id and l.service_id = u.service_id and l.insurer = ${of.insurer}
        and l.benefit = any (${of.benefits}::text[]))
    order by u.service_id limit ${OPENED}`)
}

/**
 * Makes the next run tell an insurer again about a person of a benefit. What the insurer lacks is told as new; what it has
 * otherwise is told as a correction or an end.
 */
export async function sayAgain(
  db: Executor,
  { feed, insurer }: Pick<Feed, 'feed' | 'insurer'>,
  one: {
    readonly partnerId: string
    readonly serviceId: string
    readonly benefit: string
    readonly person?: string | undefined
    readonly kind: DifferenceKind
  },
): Promise<void> {
  const { partnerId, serviceId, benefit, person, kind } = one
  await db.query(sql`
    update insurer_lines set status = ${kind === 'missingthere' ? 'settled' : 'doubted'}
    where partner_id = ${partnerId} and service_id = ${serviceId} and insurer = ${insurer} and benefit = ${benefit}
      and dependant_id is not distinct from ${person || null}::uuid and status in ('sent', 'accepted')`)
  await db.query(forgetSeen([serviceId], { partnerId, feed }))
}
