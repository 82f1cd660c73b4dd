import type { Client, EventPage } from '../client/src/index.ts'

/** A partner's whole event log, read page by page, with the cursor at its end. */
export async function wholeLog(client: Client): Promise<EventPage> {
  const events: EventPage['events'] = []
  let page = await client.listEvents({})
  while (page.events.length > 0) {
    events.push(...page.events)
    page = await client.listEvents({ after: page.next })
  }
  return { events, next: page.next }
}
