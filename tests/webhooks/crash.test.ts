import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { everydayOr, timesOf } from '../long.ts'
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
const options = { pollMs: 20, slots }
/** After this long everybody may claim what a process had claimed that is no more. */
const CLAIM_MS = 60_000

/** What the dispatchers of the test under way wrote. */
let written = ''

/** Starts a dispatcher in a process of its own, by the clock of the rig as it is now. */
function startChild(rig: DispatchRig, step?: { name: string; count: number }): ChildProcess {
  const aheadMs = rig.now() - Date.now()
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('child.mjs', import.meta.url)),
      JSON.stringify({ address: rig.address, rootKey: rig.rootKey, step, aheadMs, options }),
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
const patient = { timeout: 120_000, interval: 20 }

/** Lets what is claimed be claimed anew, and everything arrive. */
async function finish(rig: DispatchRig): Promise<void> {
  const successor = rig.open(options)
  // One that was refused or lost its answer is due again after a pause.
  await expect
    .poll(async () => {
      rig.advance(CLAIM_MS + 1000)
      await successor.idle()
      return rig.count('deliveries')
    }, patient)
    .toBe(0)
  await successor.close()
}

// Late enough that other deliveries are under way, and some done.
const steps: [name: string, count: number][] = [
  ['before claim', 2],
  ['after claim', 2],
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
      const child = startChild(rig, { name, count })
      const [, signal] = await once(child, 'exit')
      expect(signal).toBe('SIGKILL')
      // What the killed process had claimed is nobody else's until its claims have ended.
      const other = rig.open(options)
      await other.idle()
      await other.close()
      const [left] = await rig.database.query<{ claimed: number; free: number }>(sql`
        select count(held_from) as claimed, count(*) - count(held_from) as free from deliveries`)
      expect(left?.free).toBe(0)
      // An attempt begins only while fewer than four results per slot are unwritten.
      expect(left?.claimed).toBeLessThan(5 * slots)
      await finish(rig)
      expect(receiver.deliveries.length - before - events).toBeLessThan(5 * slots)
    }
    await checkTheBooks(rig, receiver, rounds * events)
    await receiver.close()
  },
  600_000 + rounds * 30_000,
)

test('one of two processes killed under load: the other sends the rest, and what was under way after a minute', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  for (const _ of range(4)) await rig.addEndpoint(receiver.url)
  receiver.answer = () => response => setTimeout(() => answer(response), 5)
  for (let round = 1; round <= rounds; round += 1) {
    await rig.raise(range(events))
    const [one, two] = [startChild(rig), startChild(rig)]
    await receiver.received((round - 1) * events * 4 + events)
    one.kill('SIGKILL')
    const untilClaimed = async () => {
      const [row] = await rig.database.query<{ free: number }>(
        sql`select count(*) as free from deliveries where held_from is null`,
      )
      return row?.free
    }
    await expect.poll(untilClaimed, patient).toBe(0)
    two.kill('SIGKILL')
    await finish(rig)
    expect(receiver.deliveries.length - round * events * 4).toBeLessThan(2 * 5 * slots * round)
  }
  // At each of the four endpoints, which are one receiver.
  await checkTheBooks(rig, receiver, rounds * events)
  await receiver.close()
}, 600_000)

test('every connection to the database ended again and again under load: every event arrives, and the books agree', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  await rig.addEndpoint(receiver.url)
  receiver.answer = () => response => setTimeout(() => answer(response), 2)
  await rig.raise(range(events * 4))
  const child = startChild(rig)
  try {
    for (let cut = 1; cut <= 8; cut += 1) {
      await receiver.received(cut * events * 0.25)
      await rig.database.query(sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`)
    }
    // Claims whose answer was lost end after a minute.
    await receiver.received(events * 3)
  } finally {
    child.kill('SIGKILL')
  }
  await finish(rig)
  await checkTheBooks(rig, receiver, events * 4)
  await receiver.close()
}, 600_000)

test('a process that was stopped for longer than its claims overwrites nothing that another has written since', async () => {
  await using rig = await dispatchRig()
  const receiver = await startReceiver()
  const { webhookid } = await rig.addEndpoint(receiver.url)
  // As many as open the breaker, and as are sent to an endpoint that has answered nothing yet.
  const count = 3
  for (let round = 0; round < rounds; round += 1) await stopOne(rig, { receiver, webhookid, count })
  await checkTheBooks(rig, receiver, rounds * count)
  await receiver.close()
}, 600_000)

/** Stops a process while its attempts are under way, lets another attempt the same, and lets the first write its results. */
async function stopOne(
  rig: DispatchRig,
  { receiver, webhookid, count }: { receiver: Receiver; webhookid: string; count: number },
): Promise<void> {
  let isPaused = false
  const held: (() => void)[] = []
  receiver.answer = () => response => {
    if (isPaused) answer(response, 422)
    else held.push(() => answer(response))
  }
  const before = receiver.deliveries.length
  const raised = await rig.raise(range(count))
  const child = startChild(rig)
  try {
    await receiver.received(before + count)
    child.kill('SIGSTOP')
    isPaused = true
    // Another process attempts the same, and is refused each. The clock of the first went on while it started.
    rig.advance(2 * CLAIM_MS)
    const other = rig.open(options)
    await other.idle()
    await other.close()
    const state = () =>
      rig.database.query(sql`
        select d.event_id, d.work, d.attempts, d.due_at, h.breaker, h.failing_since
        from deliveries d join endpoint_health h on h.endpoint_id = d.endpoint_id order by d.event_id`)
    const written = await state()
    expect(written).toHaveLength(count)
    // What the stopped process had sent is answered now with 200: it writes that it was sent, and nothing else.
    for (const letGo of held) letGo()
    child.kill('SIGCONT')
    const succeeded = () =>
      rig.database.query(
        sql`select event_id from delivery_attempts
          where status = 200 and endpoint_id = ${webhookid} and event_id = any (${raised}::uuid[])`,
      )
    await expect.poll(succeeded, patient).toHaveLength(count)
    expect(await state()).toEqual(written)
  } finally {
    child.kill('SIGCONT')
    child.kill('SIGKILL')
  }
  isPaused = false
  receiver.answer = () => response => answer(response)
  await finish(rig)
}
