import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { holdUsers, testInTime, waitForLock } from '../hold-users.ts'
import { startTestService } from '../rig.ts'
import { goByTicks } from '../ticks.ts'

testInTime(
  'a stop answers the write that is under way and then ends, though its connection is kept alive',
  async () => {
    await using service = await startTestService()
    const partner = await service.newPartner()
    await partner.client.prefillUser({ userid: 'u1' })
    const held = await holdUsers(service, partner)
    const write = partner.client.prefillUser({ userid: 'u1' })
    await waitForLock(service)
    goByTicks()
    const stopped = service.service().close()
    await held.release()
    expect(await write).toBe('prefill saved')
    const inTime = Promise.race([stopped.then(() => 'stopped'), sleepFor(5000)])
    expect(await inTime).toBe('stopped')
  },
)

test('a stop does not wait for a connection that has not asked for anything', async () => {
  await using service = await startTestService()
  const { hostname, port } = new URL(service.baseUrl)
  const silent = connect(Number(port), hostname)
  silent.on('error', () => {})
  await new Promise<void>(resolve => silent.on('connect', () => resolve()))
  const ended = new Promise<void>(resolve => silent.on('close', () => resolve()))
  goByTicks()
  const stopped = service.service().close()
  expect(await Promise.race([stopped.then(() => 'stopped'), sleepFor(5000)])).toBe('stopped')
  await ended
})

function sleepFor(ms: number) {
  return new Promise<string>(resolve => setTimeout(() => resolve('late'), ms))
}
