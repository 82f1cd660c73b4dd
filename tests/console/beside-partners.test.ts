import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { forAllTests } from '../for-all-tests.ts'
import { ada, startTestService } from '../rig.ts'
import { signIn } from './operator-browser.ts'

const service = forAllTests(() => startTestService({ console: true }))

test('operators who wait for the database hold two connections at most, and partners are answered', async () => {
  const { client } = await service.newPartner()
  await client.createUser({ ...ada, userid: 'rider-1', offername: 'starter' })
  const operator = await signIn(service, 'support')
  const waiting = async () => {
    const [row] = await service.database.query<{ count: number }>(sql`
      select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%from operator_requests%'`)
    return row?.count
  }
  let looks: Promise<unknown>[] = []
  await service.database.transaction(async tx => {
    await tx.query(sql`lock table operator_requests in access exclusive mode`)
    // More than the pool has connections.
    looks = Array.from({ length: 24 }, () => operator.get('/requests'))
    await expect.poll(waiting, { timeout: 60_000, interval: 20 }).toBe(2)
    expect(await client.getUser({ userid: 'rider-1' })).toMatchObject({ userid: 'rider-1' })
    expect(await waiting()).toBeLessThanOrEqual(2)
  })
  expect(await Promise.all(looks)).toHaveLength(24)
})
