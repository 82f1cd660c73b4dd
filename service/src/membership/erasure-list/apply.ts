import { formatTimestamp, type Instant } from '../../calendar/calendar.ts'
import { type Columns, column, listOf } from '../../db/columns.ts'
import type { Database, Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CommandExecutor } from '../commands/executor.ts'
import { userKey } from '../records/sealed.ts'
import { refuse } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'
import type { ErasureList, ListedErasure } from './list.ts'

/** Erases a user as an erasure does, at a given instant; `applyErasures` drops the events that it would raise. */
type Erase = (user: User, at: Instant, terms: Terms) => { readonly user: User }

/**
 * Reconciles the database with its list of erasures before the service serves. A listed user who is in the database
 * again, because the database was restored from an earlier backup, is erased again with the listed time and without
 * events, because the partner got them the first time. An erasure that the database has and the list lacks, because a
 * process ended between the two writes, is added to the list. Returns how many users it erased. The partners share a cell, whose
 * database it is.
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
  const listed = list.entries().filter(({ partnerId }) => partners.has(partnerId))
  for (const { partner_id, service_id, userid, listed_at } of await stillThere(database, listed)) {
    const partner = partners.get(partner_id)
    if (!partner) continue
    const result = await executor.submit({
      partner,
      userid,
      who: 'operator',
      why: 'erase',
      actor: 'restore',
      decide: ({ member, terms }) => {
        const user = member?.user
        // A new user under the same userid must not be erased.
        if (!user || user.serviceId !== service_id || user.status === 'erased')
          return refuse('user_not_found')
        const at = Math.max(listed_at, user.updatedAt)
        return { change: { user: erase(user, at, terms()).user, events: [] }, answer: () => true }
      },
    })
    if ('reply' in result) count += 1
  }
  return count
}

const erasures: Columns<ListedErasure> = {
  ...userKey,
  erased_at: column.instant(one => Date.parse(one.erasedAt)),
}

/** The listed users who are in the database, and when each was erased. */
function stillThere(
  db: Executor,
  listed: readonly ListedErasure[],
): Promise<{ partner_id: string; service_id: string; userid: string; listed_at: Instant }[]> {
  return db.query(sql`
    select u.partner_id, u.service_id, u.userid, row.erased_at as listed_at from ${listOf(erasures, listed)}
    join users u on u.partner_id = row.partner_id and u.service_id = row.service_id and u.status <> 'erased'
    order by u.partner_id, u.service_id`)
}

async function listUnlisted(
  database: Database,
  partners: ReadonlyMap<string, Partner>,
  list: ErasureList,
): Promise<void> {
  const rows = await database.query<{ partner_id: string; service_id: string; erased_at: Instant }>(sql`
    select partner_id, service_id, erased_at from erasures
    where partner_id = any (${[...partners.keys()]}::uuid[]) order by erased_at`)
  await Promise.all(
    rows.map(row =>
      list.note({
        partnerId: row.partner_id,
        serviceId: row.service_id,
        erasedAt: formatTimestamp(row.erased_at),
      }),
    ),
  )
}
