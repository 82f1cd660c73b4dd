import type { Input } from '@benefit-enrolment/cli/command'
import type { Database } from '../db/database.ts'
import { requirePartner } from '../partners/administer.ts'
import { listPartners, type PartnerRow } from '../partners/store.ts'

/** The partner of --partner, or all partners without it. Throws OperatorError when there is no such partner, also for "". */
export async function partnersAsked(database: Database, input: Input): Promise<readonly PartnerRow[]> {
  const wanted = input.text('partner')
  return wanted === undefined ? listPartners(database) : [await requirePartner(database, wanted)]
}
