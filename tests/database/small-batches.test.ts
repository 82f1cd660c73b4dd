import { expect } from 'vitest'
import { type Query, sql } from '../../service/src/db/sql.ts'
import { loadKeys, loadUsers, loadUsersWithDocuments } from '../../service/src/membership/reading/load.ts'
import { findUnchanged } from '../../service/src/membership/reading/reader.ts'
import { newUser } from '../../service/src/membership/rules/state.ts'
import { updateUsers } from '../../service/src/membership/saving/save.ts'
import { onOneServer } from '../kept-plans.ts'
import { oneConnection } from './one-connection.ts'

// Only where tables have rows does a plan for one user look cheaper to the server than one for several.
const database = oneConnection(fresh =>
  fresh.script(`
    insert into users (partner_id, service_id, userid, status, created_at, updated_at)
      select gen_random_uuid(), gen_random_uuid(), 'u', 'none', now(), now() from generate_series(1, 2000);
    analyze users`),
)

const partnerId = crypto.randomUUID()
const user = newUser({ partnerId, serviceId: crypto.randomUUID(), userid: 'u', at: 0 })
const names = [{ partnerId, userid: 'u' }]
const entry = { user, readVersion: 1, version: 2, wrappedKey: undefined }

/** Nobody is updated, and the statement reports that as a failure. */
function update(query: Query): Promise<unknown> {
  return expect(database.commit([query])).rejects.toThrow('division by zero')
}

onOneServer.each([
  ['users with their documents', () => loadUsersWithDocuments(database, names)],
  ['users', () => loadUsers(database, names)],
  ['idempotency keys', () => loadKeys(database, [{ partnerId, operation: 'o', keyHash: Buffer.alloc(32) }])],
  ['versions', () => findUnchanged(database, [{ user, version: 1 }])],
  ['an update', () => update(updateUsers([entry]))],
])('PostgreSQL does not plan anew for each single user: %s', async (_, run) => {
  const plans = async () => {
    const [all] = await database.query<{ made: number; kept: number }>(sql`
      select sum(custom_plans)::integer as made, sum(generic_plans)::integer as kept from pg_prepared_statements
      where (statement like '%unnest%' or statement like '%from users%')
        and statement not like '%pg_prepared_statements%'`)
    return { made: all?.made ?? 0, kept: all?.kept ?? 0 }
  }
  const before = await plans()
  for (let times = 0; times < 20; times += 1) await run()
  const after = await plans()
  // The server plans the first five executions of a statement anew.
  expect(after.kept - before.kept).toBeGreaterThanOrEqual(15)
  expect(after.made - before.made).toBeLessThanOrEqual(5)
})
