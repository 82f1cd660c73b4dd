// @slow

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { everydayOr, timesOf, wholeRunTest } from '../long.ts'
import { ada } from '../rig.ts'
import { checkLogs, checkTables } from '../trust/canaries.ts'
import { arrivedIn, checkDeliveries } from '../trust/ledger.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

// Dispatchers alone, to which events are handed without a client or users: of the ledger, the receiver's part and the
// search for personal data, which the receiver puts into its answers.

/** How many crashes at each step. */
const rounds = timesOf(1, 20)
const events = 48
const slots = 4
const options = { leaseMs: 500, pollMs: 20, slots }

/** What the dispatchers of the test under way wrote. */
let written = ''

function startChild(
  rig: DispatchRig,
  { step, leaseMs = 500 }: { step?: { name: string; count: number }; leaseMs?: number } = {},
): ChildProcess {
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('child.mjs', import.meta.url)),
      JSON.stringify({ address: rig.address, rootKey: rig.rootKey, step, options: { ...options, leaseMs } }),
    ],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', chunk => {
      written += chunk
    })
  return child
}

/** Compares what arrived with what was raised, of which nothing waits any more. */
async function checkTheBooks(
  { database, partner, logged }: DispatchRig,
  receiver: Receiver,
  raised: number,
): Promise<void> {
  const arrived = arrivedIn(receiver.deliveries)
  expect(arrived.arrived.size).toBe(raised)
  await checkDeliveries({ receiver: arrived, database, partnerId: partner.partnerId })
  checkLogs(written + JSON.stringify(logged))
  await checkTables(database)
}

/** Answers as a receiver that knows the user. */
function answer(response: ServerResponse, status = 200): void {
  response.writeHead(status).end(`${ada.firstname} ${ada.lastname}`)
}

function range(count: number) {
  return Array.from({ length: count }, (_, index) => `u${index}`)
}
/** Only catches a hang. */
const patient = { timeout: 180_000, interval: 20 }
function untilDelivered(rig: DispatchRig) {
  return expect.poll(() => rig.count('deliveries'), patient).toBe(0)
}

// Late enough that other deliveries are under way, and some done.
const steps: [name: string, count: number][] = [
  ['before lease', 1],
  ['after lease', 1],
  ['before take', 1],
  ['after take', 1],
  ['before read', 1],
  ['after read', 1],
  ['before send', 6],
  ['during send', 6],
  ['after send', 6],
  ['before result', 2],
  ['after result', 2],
]

// Just before a step the database holds the same as just after the step before, so `npm test` takes only one of the two.
const taken = everydayOr(
  steps.filter(([name], place) => place === 0 || !name.startsWith('before')),
  steps,
)

test.each(taken)(
  'killed %s: every event arrives, repeats are what was under way, key and bytes are the same',
  async (name, count) => {
    await using rig = await dispatchRig()
    const receiver = await startReceiver()
    await rig.addEndpoint(receiver.url)
    receiver.answer = () => response => setTimeout(() => answer(response), 20)
    for (let round = 0; round < rounds; round += 1) {
      const before = receiver.deliveries.length
      await rig.raise(range(events))
      const child = startChild(rig, { step: { name, count } })
      const [, signal] = await once(child, 'exit')
      expect(signal).toBe('SIGKILL')
      // Its lease is so long that it sends nothing twice by itself, however long this process stands still.
      const successor = rig.open({ ...options, leaseMs: 600_000 })
      const untilTaken = () => {
        successor.refresh()
        return rig.count('deliveries')
      }
      await expect.poll(untilTaken, patient).toBe(0)
      await successor.close()
      // An attempt begins only while fewer than four results per slot are unwritten.
      expect(receiver.deliveries.length - before - events).toBeLessThan(4 * slots + slots)
    }
    await checkTheBooks(rig, receiver, rounds * events)
    await receiver.close()
  },
  600_000 + rounds * 30_000,
)

test('a dispatcher that was paused past its lease writes nothing when it wakes', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  let isPaused = false
  const held: (() => void)[] = []
  // The first one's attempts under way are answered 500, after it has lost the endpoint.
  receiver.answer = () => response => {
    if (isPaused) answer(response)
    else held.push(() => answer(response, 500))
  }
  await rig.raise(range(events))
  const child = startChild(rig)
  try {
    await receiver.received(4)
    child.kill('SIGSTOP')
    isPaused = true
    // Its own lease is so long that it does not lose the endpoint in turn, however long this process stands still.
    const other = rig.open({ ...options, leaseMs: 600_000 })
    const untilTaken = () => {
      other.refresh()
      return rig.count('deliveries')
    }
    await expect.poll(untilTaken, patient).toBe(0)
    for (const letGo of held) letGo()
    child.kill('SIGCONT')
    await expect.poll(() => receiver.deliveries.length, patient).toBe(events + 4)
    await rig.raise(range(events))
    other.nudge()
    await untilDelivered(rig)
    const attempts = await rig.database.query<{ status: number }>({
      name: '',
      text: 'select status from delivery_attempts',
      values: [],
    })
    expect(attempts.map(attempt => attempt.status)).toEqual(Array.from({ length: events * 2 }, () => 200))
    expect(receiver.deliveries).toHaveLength(events * 2 + 4)
    await checkTheBooks(rig, receiver, events * 2)
  } finally {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await receiver.close()
  }
})

wholeRunTest('processes that start and stop share the endpoints evenly, and no event is lost', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  receiver.answer = () => response => answer(response)
  for (const _ of range(8)) await rig.addEndpoint(receiver.url)
  const owners = async () => {
    const rows = await rig.database.query<{ count: number }>({
      name: '',
      text: 'select count(*) as count from endpoint_leases join dispatchers on dispatcher_id = owner where until > clock_timestamp() group by owner order by 1',
      values: [],
    })
    return rows.map(row => row.count)
  }
  // Long enough that all of them are seen alive at the same time, even on a slow machine.
  const start = () => startChild(rig, { leaseMs: 2000 })
  const children = [start(), start()]
  try {
    await expect.poll(owners, patient).toEqual([4, 4])
    children.push(start(), start())
    await expect.poll(owners, patient).toEqual([2, 2, 2, 2])
    await rig.raise(range(events))
    await untilDelivered(rig)
    children[0]?.kill('SIGKILL')
    children[1]?.kill('SIGKILL')
    await expect.poll(owners, patient).toEqual([4, 4])
    await rig.raise(range(events))
    await untilDelivered(rig)
    // At each of the eight endpoints, which are one receiver.
    await checkTheBooks(rig, receiver, 2 * events)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await receiver.close()
  }
})
