import type { TestPartner, TestService } from '../rig.ts'

/** An event as the database keeps it. */
export type StoredEvent = {
  readonly userid: string
  readonly eventname: string
  readonly body: string
  readonly data: unknown
  readonly key: string
}

/** The events of a partner, in the order in which they were raised. */
export const eventsOf = (service: TestService, partner: TestPartner): Promise<StoredEvent[]> =>
  service.database.query<StoredEvent>({
    name: '',
    text: `select userid, eventname, convert_from(body, 'UTF8') as body, data, idempotency_key::text as key
      from events where partner_id = $1 order by log_position, event_id`,
    values: [partner.partnerId],
  })
