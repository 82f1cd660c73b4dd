import { sql } from '../db/sql.ts'
import type { Partner } from '../partners/partner.ts'
import { isUuid } from '../vault/uuid.ts'
import { worksFor } from './operators/operator.ts'
import { notHere, type Visit } from './screen/screen.ts'

/** A partner as lists and choices name it. */
type OwnPartner = { readonly partnerId: string; readonly name: string; readonly isDisabled: boolean }

type Asking = Pick<Visit, 'context' | 'operator'>

/** What was read for the requests that are under way: most screens ask two or three times. */
const readFor = new WeakMap<Asking, Promise<OwnPartner[]>>()

/** The ids and names of the operator's partners, by name; read once for each request. */
export function ownPartners(visit: Asking): Promise<OwnPartner[]> {
  const known = readFor.get(visit)
  if (known) return known
  const reading = readOwnPartners(visit)
  readFor.set(visit, reading)
  return reading
}

/** The names of the operator's partners by their ids, in the order of the names. */
export async function partnerNames(visit: Asking): Promise<ReadonlyMap<string, string>> {
  return new Map((await ownPartners(visit)).map(one => [one.partnerId, one.name]))
}

async function readOwnPartners({ context, operator }: Asking): Promise<OwnPartner[]> {
  const rows = await context.database.query<{ partner_id: string; name: string; is_disabled: boolean }>(sql`
    select partner_id, name, disabled_at is not null as is_disabled from partners order by lower(name), partner_id`)
  return rows
    .filter(row => worksFor(operator, row.partner_id))
    .map(row => ({ partnerId: row.partner_id, name: row.name, isDisabled: row.is_disabled }))
}

/** A partner for which the operator works: of this id, or else that of the address. Otherwise throws the same refusal as for an unknown one. */
export async function ownPartner(
  visit: Asking & Pick<Visit, 'params'>,
  partnerId = visit.params['partnerid'] ?? '',
): Promise<Partner> {
  const isOwn = isUuid(partnerId) && worksFor(visit.operator, partnerId)
  const partner = isOwn ? await visit.context.directory.partner(partnerId) : undefined
  if (!partner) throw notHere('partner')
  return partner
}
