import { failureOf } from '../../db/failure.ts'
import { uuidv7 } from '../../vault/uuid.ts'
import { recordAlongside } from '../screen/record.ts'
import { type Answer, notHere, type Visit } from '../screen/screen.ts'
import { type Asked, sealRequest } from './request.ts'
import { needsSecond, REQUEST_LIFETIME_MS, type SecondPersonAction } from './second-person.ts'
import { insertRequest, readPolicy, whileLiving } from './store.ts'

/** Whether a second person must confirm an action of the console at present. */
export async function needsSecondPerson(
  { context }: Pick<Visit, 'context'>,
  action: SecondPersonAction,
): Promise<boolean> {
  return needsSecond(await readPolicy(context.database), action)
}

/**
 * Stores a request for other operators to confirm instead of doing the action, and records it; answers with the page of
 * the request. Throws the refusal of an unknown user when the user was erased meanwhile.
 */
export async function askSecondPerson(visit: Visit, asked: Asked): Promise<Answer> {
  const { context, operator } = visit
  const { action, partner, serviceId, reason } = asked
  const at = context.real()
  const requestId = uuidv7(at)
  const stored = context.database.commit([
    whileLiving(partner.partnerId, serviceId),
    insertRequest({
      partner_id: partner.partnerId,
      request_id: requestId,
      action,
      service_id: serviceId,
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
