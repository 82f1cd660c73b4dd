import type { Partner } from '../partners/partner.ts'
import type { Keyring } from '../vault/keyring.ts'
import { type Binding, seal, unseal, unwrapKey, wrapKey } from '../vault/seal.ts'
import { noPartner } from './entries.ts'

type Owner = Pick<Partner, 'partnerId' | 'key'>

/** Seals why an operator acted, as the audit log stores it; `serviceId` where the entry is about one user. */
export function sealReason(partner: Owner, serviceId: string | undefined, reason: string): Buffer {
  return seal(partner.key.key, reason, bindingOf(partner, serviceId))
}

/** Opens what `sealReason` made; empty where no reason is stored. Throws for the reason of another entry's user. */
export function openReason(partner: Owner, serviceId: string | undefined, sealed: Buffer | null): string {
  return sealed ? unseal(partner.key.key, sealed, bindingOf(partner, serviceId)).toString('utf8') : ''
}

/** Seals why an operator did what concerns no partner, with the root key of now, whose id stands in front. */
export function sealCommonReason({ rootKeys }: Keyring, reason: string): Buffer {
  return wrapKey(rootKeys.current, Buffer.from(reason), common)
}

/** Opens what `sealCommonReason` made; says so where its root key has been retired, and is empty where none is stored. */
export function openCommonReason({ rootKey }: Keyring, sealed: Buffer | null): string {
  if (!sealed) return ''
  try {
    return unwrapKey(rootKey, sealed, common).toString('utf8')
  } catch {
    return '(sealed with a root key that is retired)'
  }
}

const common: Binding = { purpose: 'audit_log.reason', partnerId: noPartner }

function bindingOf({ partnerId }: Owner, serviceId: string | undefined): Binding {
  return { purpose: 'audit_log.reason', partnerId, ...(serviceId === undefined ? {} : { serviceId }) }
}
