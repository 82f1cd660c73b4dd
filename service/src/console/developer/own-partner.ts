import type { Partner } from '../../partners/partner.ts'
import { ownPartner } from '../partners.ts'
import type { OperatorVisit } from '../screen/screen.ts'

/** The partner for which a developer works. Throws the refusal of an unknown partner if that one is gone. */
export function partnerOfDeveloper(visit: OperatorVisit): Promise<Partner> {
  const [partnerId] = visit.partnerNames.keys()
  return ownPartner(visit, partnerId ?? '')
}
