import type { Input } from '@benefit-enrolment/command'
import { silentNodes } from '../db/by-cell.ts'
import type { Database } from '../db/database.ts'
import { requirePartner } from '../partners/administer.ts'
import { listPartners, type PartnerRow } from '../partners/store.ts'

/** Partners, and the nodes that do not answer and have others, `HOST:PORT`. */
type Asked = { readonly partners: readonly PartnerRow[]; readonly unreachable: readonly string[] }

/**
 * The partner of --partner, or without it all whose cells answer; says on standard error where others are. Throws OperatorError
 * when there is no such partner, also for "".
 */
export async function partnersAsked(database: Database, input: Input): Promise<Asked> {
  const wanted = input.text('partner')
  if (wanted !== undefined) return { partners: [await requirePartner(database, wanted)], unreachable: [] }
  const silent = await silentNodes(database)
  const isSilent = ({ cell }: PartnerRow) => silent.some(({ cells }) => cells.includes(cell))
  const partners = await listPartners(database)
  const unreachable = silent.map(({ node }) => node)
  if (partners.some(isSilent))
    process.stderr.write(
      `Not complete: ${partners.filter(isSilent).length} of ${partners.length} partners are left out, as their node does not answer (${unreachable.join(', ')}).\n`,
    )
  return { partners: partners.filter(partner => !isSilent(partner)), unreachable }
}
