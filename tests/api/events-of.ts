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
export function eventsOf(service: TestService, partner: TestPartner): Promise<StoredEvent[]> {
  return service.database.query<StoredEvent>({
    name: '',
    text: `select userid, eventname, convert_from(body, 'UTF8') as body, data, event_id::text as key
      from events where partner_id = $1 order by position`,
    values: [partner.partnerId],
  })
}
