import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Consent, ConsentChannel } from '../rules/state.ts'
import { readRecords, type UserIds } from './sealed.ts'
import { consents } from './tables.ts'

/** A consent and how it was given, with the evidence opened. */
export type ConsentRecord = Omit<Consent, 'channel'> & {
  readonly channel: ConsentChannel
  readonly recordedBy: string | undefined
  readonly evidence: string | undefined
}

type ConsentRow = Readonly<Record<string, unknown>> & {
  readonly channel: ConsentChannel
  readonly recorded_by: string | null
}

const selected = consents.select('c')

/** A user's consents and how they were given, oldest first. */
export async function readConsentRecords(
  db: Executor,
  whose: { readonly partner: Partner; readonly user: UserIds },
): Promise<readonly ConsentRecord[]> {
  const { partnerId, serviceId } = whose.user
  const rows = await db.query<ConsentRow>(sql`
    select ${selected}, c.recorded_by from consents c
    where c.partner_id = ${partnerId} and c.service_id = ${serviceId} order by c.agreed_at, c.name, c.version`)
  const evidence = rows.length > 0 ? await readRecords(db, whose, 'evidence') : []
  return rows.map(row => {
    const consent = consents.ofRow(row)
    const own = evidence.find(({ name, version }) => name === consent.name && version === consent.version)
    return {
      ...consent,
      channel: row.channel,
      recordedBy: row.recorded_by ?? undefined,
      evidence: own?.content() as string | undefined,
    }
  })
}
