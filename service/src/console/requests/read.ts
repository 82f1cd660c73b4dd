import { noPartner } from '../../audit/entries.ts'
import type { Partner } from '../../partners/partner.ts'
import { hasRole } from '../operators/operator.ts'
import { notHere, type Visit } from '../page/screen.ts'
import { isUuid, ownPartner, ownPartners } from '../partners.ts'
import { requestKinds } from './kinds.ts'
import { openRequest, type RequestKind, type SecondPersonRequest } from './request.ts'
import { findRequest, pastRequests, type RequestRow, waitingRequests } from './store.ts'

/** A request with its kind; `request` is `undefined` when it can no longer be opened. */
export type Known = {
  readonly row: RequestRow
  readonly kind: RequestKind
  readonly partner: Partner | undefined
  readonly request: SecondPersonRequest | undefined
}

/**
 * The request of an id. Throws the refusal of an unknown request when it belongs to a partner for which the operator
 * does not work.
 */
export async function requiredRequest(visit: Visit): Promise<Known> {
  const id = visit.params['requestid'] ?? ''
  const partners = await visiblePartners(visit)
  const row = isUuid(id) ? await findRequest(visit.context.database, partners, id) : undefined
  const known = row && (await knownOf(visit, row))
  if (!known) throw notHere('request')
  return known
}

/** The requests that the operator may see: the waiting ones, and the newest of the others. */
export async function visibleRequests(visit: Visit): Promise<{ waiting: Known[]; past: Known[] }> {
  const { database, real } = visit.context
  const partners = await visiblePartners(visit)
  const [waiting, past] = [
    await waitingRequests(database, partners, real()),
    await pastRequests(database, partners, real()),
  ]
  return { waiting: await knownOnes(visit, waiting), past: await knownOnes(visit, past) }
}

/** Only operators for all partners see requests that concern no partner. */
async function visiblePartners(visit: Visit): Promise<readonly string[]> {
  const own = (await ownPartners(visit)).map(({ partnerId }) => partnerId)
  return visit.operator.partners === undefined ? [...own, noPartner] : own
}

async function knownOnes(visit: Visit, rows: readonly RequestRow[]): Promise<Known[]> {
  const known: Known[] = []
  for (const row of rows) known.push(...[await knownOf(visit, row)].filter(one => one !== undefined))
  return known
}

async function knownOf(visit: Visit, row: RequestRow): Promise<Known | undefined> {
  const kind = requestKinds.find(one => one.action === row.action)
  if (!kind) return undefined
  const partner = row.partner_id === noPartner ? undefined : await ownPartner(visit, row.partner_id)
  return { row, kind, partner, request: opened(visit, partner, row) }
}

function opened(
  visit: Visit,
  partner: Partner | undefined,
  row: RequestRow,
): SecondPersonRequest | undefined {
  try {
    return openRequest(visit.context.keyring, partner, row)
  } catch {
    return undefined
  }
}

/** Whether the operator may decide another operator's request; `false` for the operator's own. */
export function mayDecide({ operator }: Pick<Visit, 'operator'>, { kind, row }: Known): boolean {
  return hasRole(operator, kind.role) && operator.operatorId !== row.asked_by
}
