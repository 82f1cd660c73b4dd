import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Breaker } from './breaker.ts'

/** Which of two sets of credentials an attempt used. */
export type Pair = 'current' | 'next'

/** Why an endpoint is disabled: by the operator, by a 410, or after 72 h of failures. */
export type DisabledReason = 'operator' | 'gone' | 'failing'

/** A row of `webhook_endpoints` with its row of `endpoint_health`. */
export type EndpointRow = {
  partner_id: string
  endpoint_id: string
  version: number
  url: string
  sealed_secrets: Buffer
  events: string[]
  all_events: boolean
  ordering: 'none' | 'user'
  /** How many deliveries a second it can bear; null: no limit. */
  rate_limit: number | null
  disabled_at: Instant | null
  disabled_reason: DisabledReason | null
  created_at: Instant
  updated_at: Instant
  revision: number
  breaker: Breaker
  failing_since: Instant | null
  notices: number
  paused_until: Instant | null
  accepted_pair: Pair | null
  next_accepted_at: Instant | null
  certificate_ends_at: Instant | null
  reported: 'failing' | 'disabled' | null
}

/** The name of an endpoint. */
export type NamedEndpoint = { readonly partnerId: string; readonly endpointId: string }

/** The endpoints with these ids, without deleted ones. */
export function readEndpoints(db: Executor, ids: readonly NamedEndpoint[]): Promise<EndpointRow[]> {
  const partnerIds = ids.map(id => id.partnerId)
  return db.query<EndpointRow>(sql`
    select w.partner_id, w.endpoint_id, w.version, w.url, w.sealed_secrets, w.events,
      w.all_events, w.ordering, w.rate_limit, w.disabled_at, w.disabled_reason, w.created_at, w.updated_at, h.revision, h.breaker,
      h.failing_since, h.notices, h.paused_until, h.accepted_pair, h.next_accepted_at, h.certificate_ends_at,
      h.reported
    from unnest(${partnerIds}::uuid[], ${ids.map(id => id.endpointId)}::uuid[])
      as wanted (partner_id, endpoint_id)
    join webhook_endpoints w using (partner_id, endpoint_id)
    join endpoint_health h using (partner_id, endpoint_id)
    where w.deleted_at is null`)
}
