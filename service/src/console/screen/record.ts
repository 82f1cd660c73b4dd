import { type AuditEntry, addEntries, entriesStatement, noPartner } from '../../audit/entries.ts'
import { sealReason } from '../../audit/reason.ts'
import type { Query } from '../../db/sql.ts'
import type { Operator } from '../../operators/operator.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import type { OperatorVisit } from './screen.ts'

/** An operator's action or access, with its user and its reason. */
export type Deed = {
  readonly action: string
  readonly result?: string
  readonly serviceId?: string | undefined
  /** The operator who acted, if not the visit's: one operator requested it, another confirmed it. */
  readonly actor?: string
} & (
  | { readonly partner?: Owner | undefined; readonly reason?: undefined }
  | { readonly partner: Owner; readonly reason: string | undefined }
)

/** The partner whom it concerns, or all, with the key that seals the reason. */
type Owner = Pick<Partner, 'partnerId' | 'key'>

type Recorder = Pick<OperatorVisit, 'context' | 'requestId' | 'address'> & {
  readonly operator: Pick<Operator, 'operatorId'>
}

/**
 * Records an operator's action or access, and waits until the entry is written: nothing is shown without a record.
 * Rejects when it cannot be written.
 */
export async function record(visit: Recorder, deed: Deed): Promise<void> {
  await addEntries(visit.context.database, [entryOf(visit, deed)])
}

/**
 * The statement that records an action, to be committed together with the action: neither ever exists without the
 * other.
 */
export function recordAlongside(visit: Recorder, deed: Deed): Query {
  return entriesStatement([entryOf(visit, deed)])
}

function entryOf({ context, operator, requestId, address }: Recorder, deed: Deed): AuditEntry {
  const { partner, serviceId, reason } = deed
  const actor = deed.actor ?? operator.operatorId
  // The network is that of this request, so it says nothing of an operator who requested the act before.
  const isTheirs = actor === operator.operatorId
  const at = context.real()
  return {
    partnerId: partner?.partnerId ?? noPartner,
    entryId: uuidv7(at),
    at,
    times: 1,
    requestId,
    actorKind: 'operator',
    actor,
    ...(isTheirs ? { source: context.trail.sourceOf(address) } : {}),
    action: deed.action,
    result: deed.result ?? 'done',
    ...(serviceId === undefined ? {} : { serviceId }),
    ...(reason === undefined || !partner ? {} : { sealedReason: sealReason(partner, serviceId, reason) }),
  }
}
