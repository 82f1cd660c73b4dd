import type { Partner } from '../partners/partner.ts'
import type { Keyring } from '../vault/keyring.ts'
import { type Binding, seal, unseal, unwrapKey, wrapKey } from '../vault/seal.ts'
import { noPartner } from './entries.ts'

type Owner = Pick<Partner, 'partnerId' | 'key'>

/** Encrypts an operator's reason for the audit log; `serviceId` where the entry is about one user. */
export function sealReason(partner: Owner, serviceId: string | undefined, reason: string): Buffer {
  return seal(partner.key.key, reason, bindingOf(partner, serviceId))
}

/** Opens what `sealReason` made; empty where no reason is stored. Throws for the reason of another entry's user. */
export function openReason(partner: Owner, serviceId: string | undefined, sealed: Buffer | null): string {
  return sealed ? unseal(partner.key.key, sealed, bindingOf(partner, serviceId)).toString('utf8') : ''
}

/** Encrypts the reason of an act that concerns no partner, with the current root key, whose id is stored before it. */
export function sealCommonReason({ rootKeys }: Keyring, reason: string): Buffer {
  return wrapKey(rootKeys.current, Buffer.from(reason), common)
}

/** Opens what `sealCommonReason` made; empty where no reason is stored, and a note where its root key has been retired. */
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
