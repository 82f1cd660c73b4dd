import { hasRole } from '../../operators/operator.ts'
import { findSamePerson } from '../../operators/store.ts'
import type { Partner } from '../../partners/partner.ts'
import { isUuid } from '../../vault/uuid.ts'
import { requestKinds } from '../acts/request-kinds.ts'
import { ownPartner } from '../partners.ts'
import { openedRequest, type RequestKind, type SecondPersonRequest } from '../requests/request.ts'
import { findRequest, type RequestRow } from '../requests/store.ts'
import { notHere, type OperatorVisit } from '../screen/screen.ts'

/** A request with its kind; `request` is `undefined` when it can no longer be opened. */
export type Known = {
  readonly row: RequestRow
  readonly kind: RequestKind
  readonly partner: Partner
  readonly request: SecondPersonRequest | undefined
  /** Whether who looks at it asked for it, by this account or by another that is known to be of the same person. */
  readonly isOwn: boolean
}

/** What somebody reads who asked for a thing by another account. */
export const SAME_PERSON =
  'You asked for this by another account of yours, which has the same email or the same name at the identity provider. Somebody else has to decide it.'

/**
 * The request of an id. Throws the refusal of an unknown request when it belongs to a partner for which the operator
 * does not work.
 */
export async function requiredRequest(visit: OperatorVisit): Promise<Known> {
  const id = visit.params['requestid'] ?? ''
  const partners = [...visit.partnerNames.keys()]
  const row = isUuid(id) ? await findRequest(visit.context.database, partners, id) : undefined
  const known = row && (await knownOf(visit, row))
  if (!known) throw notHere('request')
  return known
}

async function knownOf(visit: OperatorVisit, row: RequestRow): Promise<Known | undefined> {
  const { database } = visit.context
  const kind = requestKinds.find(one => one.action === row.action)
  if (!kind) return undefined
  const same = await findSamePerson(database, visit.operator.operatorId)
  const partner = await ownPartner(visit, row.partner_id)
  return {
    row,
    kind,
    partner,
    request: openedRequest(partner, row),
    isOwn: same.has(row.asked_by),
  }
}

/** Whether the operator may decide another operator's request; `false` for the operator's own. */
export function mayDecide({ operator }: Pick<OperatorVisit, 'operator'>, { kind, isOwn }: Known): boolean {
  return hasRole(operator, kind.role) && !isOwn
}
