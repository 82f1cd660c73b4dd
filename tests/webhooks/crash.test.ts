import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { everydayOr, timesOf, wholeRunTest } from '../long.ts'
import { startReceiver } from './receiver.ts'
import { type DispatchRig, dispatchRig } from './rig.ts'

/** How many crashes at each step. */
const rounds = timesOf(1, 20)
const events = 48
const slots = 4
const options = { leaseMs: 500, pollMs: 20, slots }

function startChild(
  rig: DispatchRig,
  { step, leaseMs = 500 }: { step?: { name: string; count: number }; leaseMs?: number } = {},
): ChildProcess {
  return spawn(
    process.execPath,
    [
      fileURLToPath(new URL('child.mjs', import.meta.url)),
      JSON.stringify({ address: rig.address, rootKey: rig.rootKey, step, options: { ...options, leaseMs } }),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
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

// Just before a step the database holds what it held just after the one before: `npm test` takes one of the two.
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
    for (let round = 0; round < rounds; round += 1) {
      receiver.deliveries.length = 0
      receiver.answer = () => response => setTimeout(() => response.writeHead(200).end(), 20)
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
      expect(new Set(receiver.deliveries.map(one => one.key)).size).toBe(events)
      expect(new Set(receiver.deliveries.map(one => one.key + one.body)).size).toBe(events)
      // An attempt begins only while fewer than four results per slot are unwritten.
      expect(receiver.deliveries.length - events).toBeLessThan(4 * slots + slots)
    }
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
    if (isPaused) response.writeHead(200).end()
    else held.push(() => response.writeHead(500).end())
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
    for (const answer of held) answer()
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
    expect(new Set(receiver.deliveries.map(one => one.key + one.body)).size).toBe(events * 2)
  } finally {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
    await receiver.close()
  }
})

wholeRunTest('processes that start and stop share the endpoints evenly, and no event is lost', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
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
    const arrivals = new Map<string, number>()
    for (const { key } of receiver.deliveries) arrivals.set(key, (arrivals.get(key) ?? 0) + 1)
    expect(arrivals.size).toBe(2 * events)
    for (const count of arrivals.values()) expect(count).toBeGreaterThanOrEqual(8)
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await receiver.close()
  }
})
