import { addEntries, noPartner } from '../../audit/entries.ts'
import { sealReason } from '../../audit/reason.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Visit } from './screen.ts'

/** What an operator did or saw, to whom, and why. */
export type Deed = {
  readonly action: string
  readonly result?: string
  readonly partner?: Partner
  readonly serviceId?: string
  readonly reason?: string
}

/**
 * Puts on record what an operator does or sees, and waits until it is written: nothing is shown of which there is no
 * record. Rejects when it cannot be written.
 */
export async function record(
  visit: Pick<Visit, 'context' | 'operator' | 'requestId'>,
  deed: Deed,
): Promise<void> {
  const { context, operator } = visit
  const { partner, serviceId, reason } = deed
  const at = context.real()
  await addEntries(context.database, [
    {
      partnerId: partner?.partnerId ?? noPartner,
      ...{ entryId: uuidv7(at), at, times: 1, requestId: visit.requestId },
      ...{ actorKind: 'operator', actor: operator.operatorId },
      ...{ action: deed.action, result: deed.result ?? 'done' },
      ...(serviceId === undefined ? {} : { serviceId }),
      ...(partner && reason !== undefined ? { sealedReason: sealReason(partner, serviceId, reason) } : {}),
    },
  ])
}
