import { isBenefitEnrolmentError, type LoggedEvent, type PartnerClient } from '@benefit-enrolment/client'

/** All events of one user, in the order in which they were raised. */
export async function eventsOf(client: PartnerClient, userid: string): Promise<readonly LoggedEvent[]> {
  const found: LoggedEvent[] = []
  for await (const event of client.eachEvent({ userid })) found.push(event)
  return found
}

/** The status of a user, or `undefined` when there is none. */
export async function statusOf(client: PartnerClient, userid: string): Promise<string | undefined> {
  try {
    return (await client.getUser({ userid })).status
  } catch (error) {
    if (isBenefitEnrolmentError(error) && error.code === 'user_not_found') return undefined
    throw error
  }
}
