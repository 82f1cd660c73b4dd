import type { Partner } from '../../partners/partner.ts'
import { ownPartner } from '../partners.ts'
import type { Visit } from '../screen/screen.ts'

/** The partner for which a developer works. Throws the refusal of an unknown partner if that one is gone. */
export function partnerOfDeveloper(visit: Visit): Promise<Partner> {
  const [partnerId] = visit.partnerNames.keys()
  return ownPartner(visit, partnerId ?? '')
}
