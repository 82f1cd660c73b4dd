import { HOUR_MS } from '../../calendar/calendar.ts'
import { failureOf } from '../../db/failure.ts'
import { findSamePerson } from '../../operators/store.ts'
import type { Partner } from '../../partners/partner.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { recordAlongside } from '../screen/record.ts'
import { type Answer, notHere, type OperatorVisit, reasonOf } from '../screen/screen.ts'
import { type Asked, sealRequest } from './request.ts'
import { ALLOWED_HOURS, needsSecond, REQUEST_LIFETIME_MS, type SecondPersonAction } from './second-person.ts'
import { insertRequest, isAllowed, type RequestSubject, readPolicy, whileLiving } from './store.ts'

/** Whether a second person must confirm an action of the console at present. */
export async function needsSecondPerson(
  { context }: Pick<OperatorVisit, 'context'>,
  action: SecondPersonAction,
): Promise<boolean> {
  return needsSecond(await readPolicy(context.database), action)
}

/** The ids of an operator's account, and of others that are known to be of the same person. */
export async function accountsOf({
  context,
  operator,
}: Pick<OperatorVisit, 'context' | 'operator'>): Promise<string[]> {
  return [...(await findSamePerson(context.database, operator.operatorId))]
}

/** Whether the operator needs nobody else for something about a user or the partner: by the policy, or since somebody allowed it. */
export async function mayAlone(
  visit: OperatorVisit,
  action: SecondPersonAction,
  about: RequestSubject,
): Promise<boolean> {
  if (!(await needsSecondPerson(visit, action))) return true
  const { database, real } = visit.context
  const since = real() - ALLOWED_HOURS * HOUR_MS
  return isAllowed(database, about, { action, by: await accountsOf(visit), since })
}

/**
 * Stores a request for other operators to confirm instead of doing the action, and records it; answers with the page of
 * the request. Throws the refusal of an unknown user when the user was erased meanwhile.
 */
export async function askSecondPerson(visit: OperatorVisit, asked: Asked): Promise<Answer> {
  const { context, operator } = visit
  const { action, partner, serviceId, reason } = asked
  const at = context.real()
  const requestId = uuidv7(at)
  const stored = context.database.commit([
    ...(serviceId === undefined ? [] : [whileLiving(partner.partnerId, serviceId)]),
    insertRequest({
      partner_id: partner.partnerId,
      request_id: requestId,
      action,
      service_id: serviceId ?? null,
      sealed: sealRequest(asked),
      asked_by: operator.operatorId,
      asked_at: at,
      expires_at: at + REQUEST_LIFETIME_MS,
    }),
    recordAlongside(visit, {
      action: `ask for ${action}`,
      result: 'asked',
      reason,
      partner,
      serviceId,
    }),
  ])
  await stored.catch((error: unknown) => {
    throw failureOf(error).lostRace ? notHere('user') : error
  })
  return { to: `/requests/${requestId}` }
}

/** Asks to be allowed to do something alone for some hours, for the reason in the form. */
export function askToBeAllowed(
  visit: OperatorVisit,
  action: SecondPersonAction,
  { partner, serviceId }: { readonly partner: Partner; readonly serviceId?: string },
): Promise<Answer> {
  const asked = { action, partner, serviceId, reason: reasonOf(visit), payload: {}, effect: action }
  return askSecondPerson(visit, asked)
}
