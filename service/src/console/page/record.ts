import { type AuditEntry, addEntries, entriesStatement, noPartner } from '../../audit/entries.ts'
import { sealCommonReason, sealReason } from '../../audit/reason.ts'
import type { Query } from '../../db/sql.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { Operator } from '../operators/operator.ts'
import type { Visit } from './screen.ts'

/** What an operator did or saw, to whom, and why. */
export type Deed = {
  readonly action: string
  readonly result?: string
  readonly partner?: Partner
  readonly serviceId?: string
  readonly reason?: string
  /** Whose deed it is, where that is not the operator of the visit: what one asked for and another confirmed. */
  readonly actor?: string
}

type Recorder = Pick<Visit, 'context' | 'requestId'> & { readonly operator: Pick<Operator, 'operatorId'> }

/**
 * Puts on record what an operator does or sees, and waits until it is written: nothing is shown of which there is no
 * record. Rejects when it cannot be written.
 */
export async function record(visit: Recorder, deed: Deed): Promise<void> {
  await addEntries(visit.context.database, [entryOf(visit, deed)])
}

/** The statement that puts a deed on record, to be committed with the deed itself: neither is ever there without the other. */
export function recordAlongside(visit: Recorder, deed: Deed): Query {
  return entriesStatement([entryOf(visit, deed)])
}

function entryOf({ context, operator, requestId }: Recorder, deed: Deed): AuditEntry {
  const { partner, serviceId, reason } = deed
  const at = context.real()
  const sealed = (text: string) =>
    partner ? sealReason(partner, serviceId, text) : sealCommonReason(context.keyring, text)
  return {
    partnerId: partner?.partnerId ?? noPartner,
    ...{ entryId: uuidv7(at), at, times: 1, requestId },
    ...{ actorKind: 'operator', actor: deed.actor ?? operator.operatorId },
    ...{ action: deed.action, result: deed.result ?? 'done' },
    ...(serviceId === undefined ? {} : { serviceId }),
    ...(reason === undefined ? {} : { sealedReason: sealed(reason) }),
  }
}
