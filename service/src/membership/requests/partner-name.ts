import type { Partner } from '../../partners/partner.ts'
import { type Refusal, refuseField } from '../rules/refusal.ts'

/** Refuses a `partnername` that is none of the partner's own names, whatever its case; empty means any (contract §6). */
export function refusePartnerName(partner: Partner, name: string | undefined): Refusal | undefined {
  const isOwn = [partner.name, ...partner.aliases].some(own => own.toLowerCase() === name?.toLowerCase())
  if (!name || isOwn) return undefined
  const rule = 'must be empty or one of your own names'
  return refuseField('partnername', 'partnername_not_allowed', rule, 'partnername_not_allowed')
}
