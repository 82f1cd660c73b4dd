import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { UserIds } from '../records/sealed.ts'

/** A user's version, as some part of this process knows it. */
type KnownVersion = { readonly user: UserIds; readonly version: number }

/**
 * Which of these users still have the known version, in one narrow statement: their indexes in the list.
 * A user that was erased, or gave up its name, has another version. The positions come as one text, because the driver takes
 * 1 µs for each row.
 */
export async function findUnchanged(db: Executor, known: readonly KnownVersion[]): Promise<Set<number>> {
  const [only] = known
  if (only && known.length === 1) return (await isUnchanged(db, only)) ? new Set([0]) : new Set()
  const partners = listOf(known.map(({ user }) => user.partnerId))
  const [row] = await db.query<{ positions: string | null }>(sql`
    select array_agg(known.position)::text as positions
    from unnest((select ${partners}::uuid[]), ${listOf(known.map(({ user }) => user.serviceId))}::uuid[],
      ${listOf(known.map(one => one.version))}::integer[]) with ordinality as known (partner_id, service_id, version, position)
    join users u on u.partner_id = known.partner_id and u.service_id = known.service_id and u.version = known.version
    where u.is_current`)
  const positions = row?.positions ?? '{}'
  return new Set(
    positions === '{}'
      ? []
      : positions
          .slice(1, -1)
          .split(',')
          .map(position => Number(position) - 1),
  )
}

/** Arrays of one cost PostgreSQL several times as much as plain values, which delays a request that is alone. */
async function isUnchanged(db: Executor, { user, version }: KnownVersion): Promise<boolean> {
  const rows = await db.query(sql`
    select from users
    where partner_id = ${user.partnerId} and service_id = ${user.serviceId} and version = ${version} and is_current`)
  return rows.length > 0
}

/** Ids and numbers need no quotes in an array; the driver would check each value for characters that need them. */
function listOf(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`
}
