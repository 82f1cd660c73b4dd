import type { PartnerApi } from './partner-api.ts'

/** One event in the form of the log. */
export type LoggedEvent = {
  readonly eventid: string
  readonly eventname: string
  readonly userid: string
  readonly body: object
}
/** One page of the log. */
export type EventPage = { readonly events: readonly LoggedEvent[]; readonly next: string }

/** All events of one user, in the order in which they were raised. */
export async function eventsOf(api: PartnerApi, userid: string): Promise<readonly LoggedEvent[]> {
  const found: LoggedEvent[] = []
  let after = ''
  for (;;) {
    const query = `userid=${encodeURIComponent(userid)}${after && `&after=${encodeURIComponent(after)}`}`
    const page = (await api.call('GET', `/events?${query}`)) as EventPage
    found.push(...page.events)
    if (page.events.length === 0 || page.next === after) return found
    after = page.next
  }
}
