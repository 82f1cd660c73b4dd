import { expect, test } from 'vitest'
import { openDatabase } from '../../service/src/db/database.ts'
import { sql } from '../../service/src/db/sql.ts'
import { patientDatabase } from '../patient-database.ts'
import { ada, startTestService, type TestPartner, type TestService } from '../rig.ts'

/** Plans are kept from the first execution on, and nobody but the service analyses a table. */
const keepPlans = ({ database }: TestService): Promise<void> =>
  database.script(`
    do $$ declare name text; begin
      execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database());
      for name in select oid::regclass::text from pg_class
        where relnamespace = 'public'::regnamespace and relkind = 'r' loop
        execute format('alter table %s set (autovacuum_enabled = false)', name);
      end loop;
    end $$`)

/** Ends all connections, as what they did is counted then, and their plans go with them; tells what the look-ups of users have read. */
const lookUps = async (service: TestService): Promise<{ scans: number; read: number }> => {
  const database = openDatabase(service.address, { max: 1, ...patientDatabase })
  try {
    await database.query(sql`
      select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`)
    const [found] = await database.query<{ scans: number; read: number }>(sql`
      select sum(idx_scan)::integer as scans, sum(idx_tup_read)::integer as read
      from pg_stat_user_indexes where indexrelname in ('users_pkey', 'users_by_userid')`)
    return found ?? { scans: 0, read: 0 }
  } finally {
    await database.close()
  }
}

const sizeKnown = async ({ database }: TestService): Promise<number> => {
  const [table] = await database.query<{ rows: number }>(
    sql`select reltuples as rows from pg_class where oid = 'users'::regclass`,
  )
  return table?.rows ?? 0
}

const prefill = ({ client }: TestPartner, count: number) =>
  Promise.all(
    Array.from({ length: count }, () => client.prefillUser({ userid: crypto.randomUUID(), ...ada })),
  )

test('a burst of users into an empty database reads each of them, and not all for each', async () => {
  await using service = await startTestService()
  await keepPlans(service)
  const partner = await service.newPartner()
  // From here on plans are kept.
  const before = await lookUps(service)
  await prefill(partner, 10)
  await prefill(partner, 60)
  await expect.poll(() => sizeKnown(service)).toBeGreaterThanOrEqual(64)
  await prefill(partner, 200)
  await prefill(partner, 200)
  const after = await lookUps(service)
  expect(after.scans).toBeGreaterThan(before.scans)
  expect((after.read - before.read) / (after.scans - before.scans)).toBeLessThan(10)
})
