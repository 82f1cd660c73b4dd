import { inject, test } from 'vitest'
import { type Database, type DatabaseAddress, openDatabase } from '../service/src/db/database.ts'
import { sql } from '../service/src/db/sql.ts'
import { patientDatabase } from './patient-database.ts'

/** A test of kept plans: the nodes of a Citus cluster keep none of statements that name a partner, so none could be wrong. */
export const onOneServer = test.skipIf(inject('testServer').kind === 'cluster')

/**
 * On connections that are opened from now on, plans are kept from the first execution on, and only the service analyzes
 * tables: the plans are those of a new installation.
 */
export function keepPlans(database: Database): Promise<void> {
  return database.script(`
    do $$ declare name text; begin
      execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database());
      for name in select oid::regclass::text from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' loop
        execute format('alter table %s set (autovacuum_enabled = false)', name);
      end loop;
    end $$`)
}

/**
 * Returns how often these indexes were scanned, and how many rows that read. It ends all connections to the database,
 * because their counts are added only then, and because their plans go with them.
 */
export async function readByIndexes(
  address: DatabaseAddress,
  indexes: readonly string[],
): Promise<{ scans: number; read: number }> {
  const database = openDatabase(address, { max: 1, ...patientDatabase })
  try {
    await database.query(sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    const [found] = await database.query<{ scans: number; read: number }>(sql`
      select sum(idx_scan)::integer as scans, sum(idx_tup_read)::integer as read
      from pg_stat_user_indexes where indexrelname = any(${indexes}::text[])`)
    return found ?? { scans: 0, read: 0 }
  } finally {
    await database.close()
  }
}

/** How many users the planner believes to be in the database. */
export async function usersKnown(database: Database): Promise<number> {
  const [table] = await database.query<{ rows: number }>(
    sql`select reltuples as rows from pg_class where oid = 'users'::regclass`,
  )
  return table?.rows ?? 0
}
