import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { holdUsers } from '../hold-users.ts'
import { startTestService } from '../rig.ts'
import { openCaller } from './send.ts'

test('a stop answers the write that is under way and then ends, though its connection is kept alive', async () => {
  await using service = await startTestService()
  const { partner, post } = await openCaller(service)
  await post('/user/prefill', { userid: 'u1' })
  const held = await holdUsers(service, partner)
  const write = post('/user/prefill', { userid: 'u1' })
  await service.database.query({ name: '', text: waitForLock, values: [] })
  const stopped = service.service().close()
  await held.release()
  expect(await write).toMatchObject({ status: 200 })
  const inTime = Promise.race([stopped.then(() => 'stopped'), sleepFor(5000)])
  expect(await inTime).toBe('stopped')
})

test('a stop does not wait for a connection that has not asked for anything', async () => {
  await using service = await startTestService()
  const { hostname, port } = new URL(service.baseUrl)
  const silent = connect(Number(port), hostname)
  silent.on('error', () => {})
  await new Promise<void>(resolve => silent.on('connect', () => resolve()))
  const ended = new Promise<void>(resolve => silent.on('close', () => resolve()))
  const stopped = service.service().close()
  expect(await Promise.race([stopped.then(() => 'stopped'), sleepFor(5000)])).toBe('stopped')
  await ended
})

/** Ends once another session waits for a lock. */
const waitForLock = `do $$ begin
  while not exists (select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock') loop
    perform pg_sleep(0.01);
    perform pg_stat_clear_snapshot();
  end loop; end $$`

const sleepFor = (ms: number) => new Promise<string>(resolve => setTimeout(() => resolve('late'), ms))
