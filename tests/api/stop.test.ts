import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { startTestService } from '../rig.ts'
import { openCaller } from './send.ts'

test('a stop answers the write that is under way and then ends, though its connection is kept alive', async () => {
  await using service = await startTestService()
  const { partner, post } = await openCaller(service)
  await post('/user/prefill', { userid: 'u1' })
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  let isLocked = () => {}
  const locked = new Promise<void>(resolve => {
    isLocked = resolve
  })
  const holder = service.database.transaction(async tx => {
    await tx.query({
      name: '',
      text: 'select 1 from users where partner_id = $1 for update',
      values: [partner.partnerId],
    })
    isLocked()
    await held
  })
  await locked
  const write = post('/user/prefill', { userid: 'u1' })
  await service.database.query({ name: '', text: waitForLock, values: [] })
  const stopped = service.service().close()
  release()
  await holder
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
