import { noPartner } from '../audit/entries.ts'
import type { Zone } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import { type Operator, worksFor } from '../operators/operator.ts'
import type { Partner } from '../partners/partner.ts'
import { isUuid } from '../vault/uuid.ts'
import { notHere, type OperatorVisit } from './screen/screen.ts'

/** The names and zones of the operator's partners by their ids, in the order of the names. */
export async function readOwnPartners(
  database: Database,
  operator: Operator,
): Promise<Pick<OperatorVisit, 'partnerNames' | 'zoneOf' | 'zone'>> {
  const rows = await database.query<{ partner_id: string; name: string; timezone: Zone }>(sql`
    select partner_id, name, timezone from partners
    where ${operator.partners ?? null}::uuid[] is null or partner_id = any(${operator.partners ?? null}::uuid[])
    order by lower(name), partner_id`)
  const zones = new Map(rows.map(row => [row.partner_id, row.timezone]))
  const [only = 'UTC', ...others] = new Set(zones.values())
  return {
    partnerNames: new Map(rows.map(row => [row.partner_id, row.name])),
    zoneOf: partnerId => zones.get(partnerId) ?? 'UTC',
    zone: others.length === 0 ? only : 'UTC',
  }
}

/** A partner for which the operator works: of this id, or else that of the address. Otherwise throws the same refusal as for an unknown one. */
export async function ownPartner(
  visit: OperatorVisit,
  partnerId = visit.params['partnerid'] ?? '',
): Promise<Partner> {
  const isOwn = isUuid(partnerId) && worksFor(visit.operator, partnerId)
  const partner = isOwn ? await visit.context.directory.partner(partnerId) : undefined
  if (!partner) throw notHere('partner')
  return partner
}

/** The partners whose people an operator sees, and for who works for all of them also what concerns none or all. */
export function seenPartners({
  operator,
  partnerNames,
}: Pick<OperatorVisit, 'operator' | 'partnerNames'>): readonly string[] {
  return [...partnerNames.keys(), ...(operator.partners === undefined ? [noPartner] : [])]
}

/** The operator's partners. */
export async function partnersOf({ context, partnerNames }: OperatorVisit): Promise<Partner[]> {
  const found = await Promise.all([...partnerNames.keys()].map(id => context.directory.partner(id)))
  return found.flatMap(partner => partner ?? [])
}
