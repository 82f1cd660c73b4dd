import type { Instant } from '../../calendar/calendar.ts'
import { uuids } from '../../db/binary-array.ts'
import { type Columns, column, listOf, settingsOf, within } from '../../db/columns.ts'
import type { Executor } from '../../db/database.ts'
import { sql, timestamp } from '../../db/sql.ts'
import {
  type DisabledReason,
  type EndpointRow,
  endpointColumns,
  endpointOf,
  healthTable,
  type NamedEndpoint,
  readEndpoints,
} from './endpoint.ts'
import { releaseAttempted } from './release.ts'
import { beginningAnew, closedBreaker, type HealthRecord } from './verdict.ts'

/** The values of an endpoint that a partner decides, with its ids. */
type OwnValues = Pick<
  EndpointRow,
  | 'partner_id'
  | 'endpoint_id'
  | 'url'
  | 'sealed_secrets'
  | 'events'
  | 'all_events'
  | 'ordering'
  | 'rate_limit'
>

/** Stores a new endpoint in good health. */
export async function insertEndpoint(db: Executor, endpoint: OwnValues, createdAt: Instant): Promise<void> {
  const at = timestamp(createdAt)
  await db.query(sql`
    with made as (
      insert into webhook_endpoints (partner_id, endpoint_id, url, sealed_secrets, events, all_events, ordering, rate_limit,
        created_at, updated_at)
      values (${endpoint.partner_id}, ${endpoint.endpoint_id}, ${endpoint.url}, ${endpoint.sealed_secrets},
        ${endpoint.events}::text[], ${endpoint.all_events}, ${endpoint.ordering}, ${endpoint.rate_limit}, ${at}, ${at})
      returning partner_id, endpoint_id
    )
    insert into endpoint_health (partner_id, endpoint_id, breaker)
    select partner_id, endpoint_id, ${JSON.stringify(closedBreaker())}::jsonb from made`)
}

/** An endpoint, and how many deliveries wait or are dead there, counted up to `COUNTED`. */
export type ListedEndpoint = EndpointRow & { waiting: number; dead: number }

/** Counting stops here, and the number then means "at least". */
export const COUNTED = 10_000

/**
 * The endpoints of a partner, oldest first, or only the one with this id; without deleted ones. Each subquery names the partner,
 * as Citus asks every node where it has to infer who it is.
 */
export async function listEndpoints(
  db: Executor,
  partnerId: string,
  endpointId: string | null = null,
): Promise<ListedEndpoint[]> {
  const rows = await db.query<Omit<ListedEndpoint, 'health'>>(sql`
    select ${endpointColumns},
      (select count(*) from (
        select from deliveries d where d.partner_id = ${partnerId} and d.endpoint_id = w.endpoint_id
        limit ${COUNTED}) counted) as waiting,
      (select count(*) from (
        select from dead_deliveries d where d.partner_id = ${partnerId} and d.endpoint_id = w.endpoint_id
        limit ${COUNTED}) counted) as dead
    from webhook_endpoints w
    join endpoint_health h using (partner_id, endpoint_id)
    where w.partner_id = ${partnerId} and w.deleted_at is null
      and (${endpointId}::uuid is null or w.endpoint_id = ${endpointId}::uuid)
    order by w.endpoint_id`)
  return rows.map(endpointOf)
}

/** Locks an endpoint for a change; `undefined` when the partner has no endpoint of this id. */
export async function lockEndpoint(db: Executor, named: NamedEndpoint): Promise<EndpointRow | undefined> {
  // Read by a statement of its own: one that waits for the lock sees the endpoint as it is then, but the health as it was
  // when it began, and so might take credentials for accepted that another change has just added.
  await db.query(sql`
    select 1 from webhook_endpoints
    where partner_id = ${named.partnerId} and endpoint_id = ${named.endpointId} for update`)
  const [row] = await readEndpoints(db, [named])
  return row
}

/** An endpoint that is locked, to be judged by what has ended there. */
export type LockedEndpoint = Pick<
  EndpointRow,
  'endpoint_id' | 'version' | 'disabled_at' | 'reported' | 'health'
>

/** Locks the endpoints with these ids and their health, always in the same order; without deleted ones. */
export async function lockEndpoints(tx: Executor, ids: readonly NamedEndpoint[]): Promise<LockedEndpoint[]> {
  const rows = await tx.query<Omit<LockedEndpoint, 'health'>>(sql`
    select w.endpoint_id, w.version, w.disabled_at, h.reported, ${healthTable.select('h')}
    from unnest(${uuids(ids.map(id => id.partnerId))}::uuid[], ${uuids(ids.map(id => id.endpointId))}::uuid[])
      as wanted (partner_id, endpoint_id)
    join webhook_endpoints w on w.partner_id = wanted.partner_id and w.endpoint_id = wanted.endpoint_id
    join endpoint_health h on h.partner_id = w.partner_id and h.endpoint_id = w.endpoint_id
    where w.deleted_at is null
    order by w.partner_id, w.endpoint_id
    for no key update of w, h`)
  return rows.map(row => ({ ...row, health: healthTable.ofRow(row) }))
}

/** The health of an endpoint, to be stored; `isProbed`: its probe has ended. */
type NamedHealth = {
  readonly named: NamedEndpoint
  readonly health: HealthRecord
  readonly isProbed: boolean
}

const healthColumns: Columns<NamedHealth> = {
  partner_id: column.uuid(({ named }) => named.partnerId),
  endpoint_id: column.uuid(({ named }) => named.endpointId),
  may_be_probed: column.boolean(({ health, isProbed }) => isProbed || health.breaker.open === null),
  ...within(healthTable.columns, ({ health }: NamedHealth) => health),
}

/** Stores the health of endpoints. Another probe may follow one that has ended. */
export async function saveHealth(tx: Executor, healths: readonly NamedHealth[]): Promise<void> {
  await tx.query(sql`
    update endpoint_health h set ${settingsOf(healthTable.columns)},
      probing_until = case when not row.may_be_probed then h.probing_until end
    from ${listOf(healthColumns, healths)}
    where h.partner_id = row.partner_id and h.endpoint_id = row.endpoint_id`)
}

/** Stores the health of an endpoint that is locked and was changed otherwise than by attempts. */
export function changeHealth(tx: Executor, named: NamedEndpoint, health: HealthRecord): Promise<void> {
  return saveHealth(tx, [{ named, health: { ...health, revision: health.revision + 1 }, isProbed: false }])
}

/** Stores the values of an endpoint that can change. */
export async function updateEndpoint(db: Executor, row: OwnValues, at: Instant): Promise<void> {
  await db.query(sql`
    update webhook_endpoints set url = ${row.url}, sealed_secrets = ${row.sealed_secrets},
      events = ${row.events}::text[], all_events = ${row.all_events},
      ordering = ${row.ordering}, rate_limit = ${row.rate_limit}, version = version + 1, updated_at = ${timestamp(at)}
    where partner_id = ${row.partner_id} and endpoint_id = ${row.endpoint_id}`)
}

/** Forgets when the next delivery may follow by the rate of an endpoint, which has another one now. */
export async function forgetPace(db: Executor, named: NamedEndpoint): Promise<void> {
  await db.query(sql`
    update endpoint_health set next_at = null
    where partner_id = ${named.partnerId} and endpoint_id = ${named.endpointId}`)
}

/** Disables an endpoint unless it is disabled already; its deliveries are held. */
export async function markDisabled(
  db: Executor,
  named: NamedEndpoint,
  { reason, at }: { reason: DisabledReason; at: Instant },
): Promise<void> {
  await db.query(sql`
    update webhook_endpoints set disabled_at = ${timestamp(at)}, disabled_reason = ${reason}, version = version + 1,
      updated_at = ${timestamp(at)}
    where partner_id = ${named.partnerId} and endpoint_id = ${named.endpointId} and disabled_at is null`)
}

/** Enables an endpoint and resets its health; held deliveries are sent, the oldest first, at a growing rate. */
export async function markEnabled(
  db: Executor,
  named: NamedEndpoint,
  { health, at }: { health: HealthRecord; at: Instant },
): Promise<void> {
  await db.query(sql`
    update webhook_endpoints set disabled_at = null, disabled_reason = null, version = version + 1,
      updated_at = ${timestamp(at)}
    where partner_id = ${named.partnerId} and endpoint_id = ${named.endpointId}`)
  // Its whole past is treated as one outage, so that everything it has rejected is attempted again.
  await releaseAttempted(db, named, { from: 0, to: at })
  await changeHealth(db, named, beginningAnew(health))
  // `disabled` here would keep silent about an endpoint that is disabled again before its first success.
  await db.query(sql`
    update endpoint_health set reported = 'failing'
    where partner_id = ${named.partnerId} and endpoint_id = ${named.endpointId} and reported = 'disabled'`)
}

/** Deletes an endpoint and its secrets; the clean-up later removes what waits for it. */
export async function markDeleted(db: Executor, named: NamedEndpoint, at: Instant): Promise<void> {
  await db.query(sql`
    update webhook_endpoints set deleted_at = ${timestamp(at)}, updated_at = ${timestamp(at)}, version = version + 1,
      sealed_secrets = ''::bytea
    where partner_id = ${named.partnerId} and endpoint_id = ${named.endpointId}`)
}
