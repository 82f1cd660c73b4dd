import type { Partner } from '../partners/partner.ts'
import { type Binding, seal, unseal } from '../vault/seal.ts'

type Owner = Pick<Partner, 'partnerId' | 'key'>

/** Encrypts an operator's reason for the audit log; `serviceId` where the entry is about one user. */
export function sealReason(partner: Owner, serviceId: string | undefined, reason: string): Buffer {
  return seal(partner.key.key, reason, bindingOf(partner, serviceId))
}

/** Opens what `sealReason` made; empty where no reason is stored. Throws for the reason of another entry's user. */
export function openReason(partner: Owner, serviceId: string | undefined, sealed: Buffer | null): string {
  return sealed ? unseal(partner.key.key, sealed, bindingOf(partner, serviceId)).toString('utf8') : ''
}

function bindingOf({ partnerId }: Owner, serviceId: string | undefined): Binding {
  return { purpose: 'audit_log.reason', partnerId, ...(serviceId === undefined ? {} : { serviceId }) }
}
