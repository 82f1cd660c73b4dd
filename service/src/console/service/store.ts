import { noPartner } from '../../audit/entries.ts'
import type { Instant } from '../../calendar/calendar.ts'
import type { Executor } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'

/** A process that shares the endpoints, and how many of them it owns. */
type ProcessRow = { dispatcher_id: string; endpoints: number }

/** The processes that have reported in time that they are alive, as every delivering process does. */
export function livingProcesses(db: Executor): Promise<ProcessRow[]> {
  // By the database's clock, which set `until`. A join, as Citus runs no subquery over leases for each row of a table that it
  // has not spread.
  return db.query<ProcessRow>(sql`
    select d.dispatcher_id, coalesce(owned.endpoints, 0) as endpoints
    from dispatchers d
    left join (select owner, count(*) as endpoints from endpoint_leases group by owner) owned on owned.owner = d.dispatcher_id
    where d.until > clock_timestamp() order by d.dispatcher_id`)
}

/** The state of the database. */
type DatabaseFacts = {
  version: string
  bytes: number
  connections: number
  most_connections: number
  /** When the oldest open transaction began; null: there is none. */
  oldest_transaction: Instant | null
  started_at: Instant
  is_replica: boolean
  /** When the last segment of the log was archived; null: never, or nothing is archived. */
  archived_at: Instant | null
}

/** Asks the database about itself. */
export async function databaseFacts(db: Executor): Promise<DatabaseFacts | undefined> {
  const [row] = await db.query<DatabaseFacts>(sql`
    select current_setting('server_version') as version, pg_database_size(current_database()) as bytes,
      (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::integer as most_connections,
      (select min(xact_start) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()) as oldest_transaction,
      pg_postmaster_start_time() as started_at, pg_is_in_recovery() as is_replica,
      (select last_archived_time from pg_stat_archiver) as archived_at`)
  return row
}

/** Erased users whose keys may still be in files, and when the first of them was erased. */
export async function unscrubbed(db: Executor): Promise<{ users: number; since: Instant | null }> {
  const [row] = await db.query<{ users: number; since: Instant | null }>(sql`
    select count(*) as users, min(erased_at) as since from erasures where scrubbed_at is null`)
  return row ?? { users: 0, since: null }
}

/** Since when this installation exists, and whether it is quiet. */
export async function installedSince(
  db: Executor,
): Promise<{ created_at: Instant; sandbox: boolean; quiet_since: Instant | null } | undefined> {
  const [row] = await db.query<{ created_at: Instant; sandbox: boolean; quiet_since: Instant | null }>(sql`
    select created_at, sandbox, quiet_since from installation`)
  return row
}

const ENTRIES_LOOKED_AT = 20_000

/** When commands of these names were last run, among the newest entries that concern no partner. */
export async function lastDone(
  db: Executor,
  actions: readonly string[],
): Promise<ReadonlyMap<string, Instant>> {
  const rows = await db.query<{ action: string; at: Instant }>(sql`
    select newest.action, max(newest.at) as at from (
      select action, result, at from audit_log where partner_id = ${noPartner}
      order by entry_id desc limit ${ENTRIES_LOOKED_AT}) newest
    where newest.action = any(${actions}::text[]) and newest.result = 'done'
    group by newest.action`)
  return new Map(rows.map(row => [row.action, row.at]))
}
