import { openReason } from '../../audit/reason.ts'
import { dateAt, type Instant } from '../../calendar/calendar.ts'
import { type Html, html } from '../../http/html.ts'
import type { Partner } from '../../partners/partner.ts'
import { hasRole } from '../operators/operator.ts'
import type { Visit } from '../screen/screen.ts'
import type { SeenRow } from '../user-data/store.ts'
import { part, table, tag, when } from '../views/parts.ts'

/** A user, and the newest entries of the audit log about the user. */
type Seen = {
  readonly partner: Partner
  readonly serviceId: string
  readonly seen: readonly SeenRow[]
  /** When the user became known. */
  readonly since: Instant
}

/** Who looked at a user and worked on it; reasons are shown to support only. */
export function seenPart(visit: Visit, { partner, serviceId, seen, since }: Seen): Html {
  const sees = hasRole(visit.operator, 'support')
  const rows = table({
    caption: 'Who looked at this user, and who worked on it: the newest entries',
    columns: ['When', 'Who', 'What', ...(sees ? ['Because'] : [])],
    rows: seen.map(row => [
      when(row.at, partner.timezone),
      html`${row.operator ?? row.actor}<br><span class="hint">${row.actor_kind}</span>`,
      html`${row.action}${row.result === 'refused' && html` ${tag('refused', 'bad')}`}`,
      ...(sees ? [openReason(partner, serviceId, row.sealed_reason)] : []),
    ]),
    empty: 'Nobody in the last year.',
  })
  const filters = { partner: partner.partnerId, user: serviceId, who: 'all', from: dateAt(since, 'UTC') }
  const all = html`<a href="/audit?${new URLSearchParams(filters).toString()}">All entries</a>`
  return part('Who looked and worked here', rows, all)
}
