import { expect, onTestFinished, test } from 'vitest'
import { urlOf } from '../command/database-url.ts'
import { codeOf } from '../command/place.ts'
import { freePort } from '../free-port.ts'
import { holdLocks } from '../hold-locks.ts'
import { ada } from '../rig.ts'
import { type Bench, openBench } from './bench.ts'

// What a process owes to the requests that it has taken, and to the lines of its log, however it ends.

async function openedBench(): Promise<Bench> {
  const bench = await openBench({ refuses: false })
  onTestFinished(bench.close)
  return bench
}

test('SIGTERM lets every accepted request be answered, though it has to wait, and writes all lines', async () => {
  const bench = await openedBench()
  const metricsPort = await freePort()
  const service = await bench.start({ env: { ENROLMENT_METRICS_PORT: String(metricsPort) } })
  const client = bench.clientOf(bench.ports[0] ?? 0)
  const save = (userid: string) =>
    bench.own.write(userid, 'prefill', () => client.prefillUser({ userid, ...ada }))
  const prefills = () =>
    service.log().filter(line => line.event === 'request' && line['route'] === '/user/prefill').length
  await save('locked')
  const heldAt = performance.now()
  const held = await holdLocks(urlOf(bench.address), [
    `select 1 from users where partner_id = '${bench.partner.partnerid}' and userid = 'locked' for update`,
  ])
  const calls = [codeOf(save('locked'))]
  await expect.poll(held.waiting, { interval: 20 }).toBe(1)
  for (let count = 0; count < 20; count += 1) calls.push(codeOf(save(`waiting-${count}`)))
  // Only a request that has arrived is accepted; it may also have been answered already.
  const arrived = async () => {
    const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    return Number(/^http_requests_in_flight (\d+)$/m.exec(text)?.[1]) + prefills() - 1
  }
  await expect.poll(arrived, { interval: 20 }).toBe(calls.length)
  // 0 means within the 15 seconds that an orchestrator waits: the service ends itself with another code after 14.
  const ended = service.stop()
  await expect.poll(() => service.log().some(line => line.event === 'stopping'), { interval: 20 }).toBe(true)
  await held.release()
  // A write that waits for its lock is given up after a few seconds, and on a slow machine so long may have passed by now.
  const mayBeGivenUp = performance.now() - heldAt > 1500
  const answers = await Promise.all(calls)
  expect(answers.filter(code => code !== '' && !(mayBeGivenUp && code === 'unavailable'))).toEqual([])
  expect(await ended).toBe(0)
  expect(prefills()).toBe(calls.length + 1)
  await bench.start()
  await bench.check()
})
