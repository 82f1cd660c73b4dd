import type { Executor } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Operator, worksFor } from '../operators/operator.ts'
import type { Partner } from '../partners/partner.ts'
import { isUuid } from '../vault/uuid.ts'
import { notHere, type Visit } from './screen/screen.ts'

/** The names of the operator's partners by their ids, in the order of the names. */
export async function readPartnerNames(
  db: Executor,
  operator: Operator,
): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ partner_id: string; name: string }>(sql`
    select partner_id, name from partners order by lower(name), partner_id`)
  const own = rows.filter(row => worksFor(operator, row.partner_id))
  return new Map(own.map(row => [row.partner_id, row.name]))
}

/** A partner for which the operator works: of this id, or else that of the address. Otherwise throws the same refusal as for an unknown one. */
export async function ownPartner(
  visit: Visit,
  partnerId = visit.params['partnerid'] ?? '',
): Promise<Partner> {
  const isOwn = isUuid(partnerId) && worksFor(visit.operator, partnerId)
  const partner = isOwn ? await visit.context.directory.partner(partnerId) : undefined
  if (!partner) throw notHere('partner')
  return partner
}
