import { setTimeout as sleep } from 'node:timers/promises'
import type { Client, EventPage } from '../client/src/index.ts'
import type { Database } from '../service/src/db/database.ts'
import { sql } from '../service/src/db/sql.ts'

/**
 * A partner's whole event log, read by pages. The log holds events back while an older transaction is open anywhere on
 * the server, also one of another test's database: it is read again until all that was raised is there.
 */
export async function wholeLog(
  client: Client,
  from: { database: Database; partnerId: string },
): Promise<EventPage> {
  const [raised] = await from.database.query<{ count: number }>(
    sql`select count(*) as count from events where partner_id = ${from.partnerId}`,
  )
  for (;;) {
    const events: EventPage['events'] = []
    let next: string | undefined
    for (;;) {
      const page = await client.listEvents(next === undefined ? {} : { after: next })
      events.push(...page.events)
      next = page.next
      if (page.events.length === 0) break
    }
    if (events.length >= (raised?.count ?? 0)) return { events, next }
    await sleep(100)
  }
}
