import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { type Fragment, fragment, sql, timestamp } from '../../db/sql.ts'
import { stored, tableOf } from '../../db/table.ts'
import { DISABLE_AFTER, type HealthRecord } from './verdict.ts'

/** Why an endpoint is disabled: by the operator, by a 410, or after 72 h of failures. */
export type DisabledReason = 'operator' | 'gone' | 'failing'

/** The columns of the health of an endpoint. */
export const healthTable = tableOf<HealthRecord>({
  revision: stored.integer('revision'),
  breaker: stored.json('breaker'),
  failingSince: stored.instant('failing_since'),
  notices: stored.integer('notices'),
  pausedUntil: stored.instant('paused_until'),
  acceptedPair: stored.text('accepted_pair'),
  nextAcceptedAt: stored.instant('next_accepted_at'),
  certificateEndsAt: stored.instant('certificate_ends_at'),
})

/** A row of `webhook_endpoints`, with the endpoint's health. */
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
  /** What the partner's other endpoints were told last about this one. */
  reported: 'failing' | 'disabled' | null
  health: HealthRecord
}

/** The name of an endpoint. */
export type NamedEndpoint = { readonly partnerId: string; readonly endpointId: string }

/** The columns of an endpoint `w` with its health `h`; `endpointOf` makes an endpoint of the row. */
export const endpointColumns = fragment`w.partner_id, w.endpoint_id, w.version, w.url, w.sealed_secrets, w.events,
  w.all_events, w.ordering, w.rate_limit, w.disabled_at, w.disabled_reason, w.created_at, w.updated_at, h.reported,
  ${healthTable.select('h')}`

/** The endpoint of a selected row, with whatever else the row has. */
export function endpointOf<Row extends Omit<EndpointRow, 'health'>>(row: Row): Row & EndpointRow {
  return { ...row, health: healthTable.ofRow(row) }
}

/** The endpoints with these ids, without deleted ones. */
export async function readEndpoints(db: Executor, ids: readonly NamedEndpoint[]): Promise<EndpointRow[]> {
  const partnerIds = ids.map(id => id.partnerId)
  const rows = await db.query<Omit<EndpointRow, 'health'>>(sql`
    select ${endpointColumns}
    from unnest(${partnerIds}::uuid[], ${ids.map(id => id.endpointId)}::uuid[])
      as wanted (partner_id, endpoint_id)
    join webhook_endpoints w using (partner_id, endpoint_id)
    join endpoint_health h using (partner_id, endpoint_id)
    where w.deleted_at is null`)
  return rows.map(endpointOf)
}

/** An endpoint that is not disabled, with what tells whether it has changed, and whether something is due there. */
type EnabledEndpoint = Pick<EndpointRow, 'partner_id' | 'endpoint_id' | 'version'> & {
  revision: number
  has_due: boolean
  /** Of one that has failed for so long that it may be disabled: whether a process is attempting a delivery there. */
  is_attempted: boolean
}

/** What is due, by this process's clock, and how far that is ahead of the system's: 0 but in a test that moves its clock. */
export type Clock = { readonly now: Instant; readonly aheadMs: number }

/** The database's time, by which claims begin and end, because the clocks of processes differ. */
export function databaseNow({ aheadMs }: Clock): Fragment {
  return fragment`date_trunc('milliseconds', statement_timestamp() + ${aheadMs} * interval '1 millisecond')`
}

/** Whether a delivery `d` is due, by the later of both clocks; a claim ends by that of the database alone. */
export function isDue(clock: Clock): Fragment {
  return fragment`d.due_at <= greatest(${timestamp(clock.now)}::timestamptz, ${databaseNow(clock)})
    and (d.held_from is null or d.due_at <= ${databaseNow(clock)})`
}

/** Every endpoint that is not disabled, with whether something is due there. */
export function listEnabled(db: Executor, clock: Clock): Promise<EnabledEndpoint[]> {
  const some = (deliveries: Fragment) => fragment`
      select from unnest('{fresh,retry,replay}'::text[]) as queue (work)
      cross join lateral (
        select from deliveries d
        where d.partner_id = w.partner_id and d.endpoint_id = w.endpoint_id and d.work = queue.work
          and ${deliveries}
        limit 1) found`
  const isClaimed = fragment`d.due_at > ${databaseNow(clock)} and d.held_from is not null and not d.is_behind`
  return db.query<EnabledEndpoint>(sql`
    select w.partner_id, w.endpoint_id, w.version, h.revision, exists (${some(isDue(clock))}) as has_due,
      exists (${some(isClaimed)} where h.failing_since <= ${timestamp(clock.now - DISABLE_AFTER)}) as is_attempted
    from webhook_endpoints w
    join endpoint_health h on h.partner_id = w.partner_id and h.endpoint_id = w.endpoint_id
    where w.deleted_at is null and w.disabled_at is null`)
}
