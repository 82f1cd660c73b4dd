import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
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

test('a stop reads and answers the first request of a connection that has just been made', async () => {
  await using service = await startTestService()
  const { hostname, port } = new URL(service.baseUrl)
  const ask = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname))
  await Promise.all(sockets.map(socket => once(socket, 'connect')))
  // Connections are accepted in their order, so an answer on a later one shows that they all are.
  const last = connect(Number(port), hostname).on('error', () => {})
  last.write(ask)
  await once(last, 'data')
  const answers = Promise.allSettled(sockets.map(socket => text(socket)))
  for (const socket of sockets) socket.write(ask)
  await service.service().close()
  for (const answer of await answers)
    expect(answer).toEqual({ status: 'fulfilled', value: expect.stringMatching(/^HTTP\/1\.1 200 /) })
})

function sleepFor(ms: number) {
  return new Promise<string>(resolve => setTimeout(() => resolve('late'), ms))
}
