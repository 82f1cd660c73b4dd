import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import type { Database } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CommandExecutor } from '../commands/executor.ts'
import { refuse } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'
import type { ErasureList } from './list.ts'

/** Erases a user as an erasure does, at a given instant; `applyErasures` drops the events that it would raise. */
type Erase = (user: User, at: Instant, terms: Terms) => { readonly user: User }

/**
 * Reconciles the database with its list of erasures before the service serves. A listed user who is in the database
 * again, because the database was restored from an earlier backup, is erased again with the listed time and without
 * events, because the partner got them the first time. An erasure that the database has and the list lacks, because a
 * process ended between the two writes, is added to the list. Returns how many users it erased.
 */
export async function applyErasures(context: {
  readonly database: Database
  readonly executor: CommandExecutor
  readonly partners: ReadonlyMap<string, Partner>
  readonly list: ErasureList
  readonly erase: Erase
}): Promise<number> {
  const { database, executor, partners, list, erase } = context
  await listUnlisted(database, partners, list)
  let count = 0
  const listed = byPartner(list)
  for (const [partnerId, partner] of partners) {
    const times = listed.get(partnerId) ?? new Map<string, Instant>()
    for (const { service_id: serviceId, userid } of await stillThere(database, partnerId, [
      ...times.keys(),
    ])) {
      const result = await executor.submit({
        partner,
        userid,
        who: 'operator',
        why: 'erase',
        actor: 'restore',
        decide: ({ member, terms }) => {
          const user = member?.user
          // A new user under the same userid must not be erased.
          if (!user || user.serviceId !== serviceId || user.status === 'erased')
            return refuse('user_not_found')
          const at = Math.max(times.get(serviceId) ?? 0, user.updatedAt)
          return { change: { user: erase(user, at, terms()).user, events: [] }, answer: () => true }
        },
      })
      if ('reply' in result) count += 1
    }
  }
  return count
}

/** The time of each erasure, by partner and serviceid. */
function byPartner(list: ErasureList): ReadonlyMap<string, ReadonlyMap<string, Instant>> {
  const listed = new Map<string, Map<string, Instant>>()
  for (const { partnerId, serviceId, erasedAt } of list.entries()) {
    const times = listed.get(partnerId) ?? new Map<string, Instant>()
    listed.set(partnerId, times.set(serviceId, Date.parse(erasedAt)))
  }
  return listed
}

async function stillThere(
  database: Database,
  partnerId: string,
  serviceIds: readonly string[],
): Promise<{ service_id: string; userid: string }[]> {
  if (serviceIds.length === 0) return []
  return database.query(sql`
    select service_id, userid from users
    where partner_id = ${partnerId} and service_id = any (${serviceIds}::uuid[]) and status <> 'erased'
    order by service_id`)
}

async function listUnlisted(
  database: Database,
  partners: ReadonlyMap<string, Partner>,
  list: ErasureList,
): Promise<void> {
  for (const partnerId of partners.keys()) {
    const rows = await database.query<{ service_id: string; erased_at: Instant }>(sql`
      select service_id, erased_at from erasures where partner_id = ${partnerId} order by erased_at`)
    await Promise.all(
      rows.map(row =>
        list.note({ partnerId, serviceId: row.service_id, erasedAt: formatTimestamp(row.erased_at) }),
      ),
    )
  }
}
