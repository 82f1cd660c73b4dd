import type { Executor } from '../../db/database.ts'
import { namingPartners, ofAnyLength, part, sql } from '../../db/sql.ts'

/** A user's version, as some part of this process knows it. */
export type HeldVersion = {
  readonly partnerId: string
  readonly serviceId: string
  readonly version: number
}

/**
 * Which of these users still have the version that is held, in one narrow statement: the places of those in the list.
 * A user that was erased, or gave up its name, has another version. The places come as one text, because the driver takes
 * 1 µs for each row.
 */
export async function findUnchanged(db: Executor, held: readonly HeldVersion[]): Promise<Set<number>> {
  const partners = listOf(held.map(one => one.partnerId))
  const naming = namingPartners(db.layout.isSpread, partners)
  const [row] = await db.query<{ places: string | null }>(sql`
    select array_agg(held.place)::text as places
    from unnest(${ofAnyLength(db.layout, part`${partners}::uuid[]`)}, ${listOf(held.map(one => one.serviceId))}::uuid[],
      ${listOf(held.map(one => one.version))}::integer[]) with ordinality as held (partner_id, service_id, version, place)
    join users u on u.partner_id = held.partner_id and u.service_id = held.service_id and u.version = held.version
    where u.is_current ${naming(part`u.partner_id`)}`)
  const places = row?.places ?? '{}'
  return new Set(
    places === '{}'
      ? []
      : places
          .slice(1, -1)
          .split(',')
          .map(place => Number(place) - 1),
  )
}

/** Ids and numbers need no quotes in an array; the driver would check each value for characters that need them. */
function listOf(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`
}
