import { once } from 'node:events'
import { afterEach, expect, test, vi } from 'vitest'
import { sql } from '../../service/src/db/sql.ts'
import { type PostgresProxy, startPostgresProxy } from '../crash/postgres-proxy.ts'
import { everydayOr, isLong, timesOf } from '../long.ts'
import { openRandom, seedsOf } from '../seeds.ts'
import type { Journal } from './journal.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

// Faults by name: a process ends at a point of a request, a delivery or an erasure, a connection breaks, an answer is
// lost, clocks differ. After each run the records of client, receiver and database must agree.

/** The points at which a process may end, each with the highest number of its pass. */
const points: readonly (readonly [point: string, most: number])[] = [
  ['request arrived', 60],
  ['request read before', 30],
  ['request read after', 30],
  ['request before', 30],
  ['request before commit', 30],
  ['request after commit', 30],
  ['request before answer', 60],
  ['delivery claim after', 3],
  ['delivery sent', 40],
  ['delivery answered', 40],
  ['delivery result before', 6],
  ['delivery result after', 6],
  ['erasure before', 5],
  ['erasure key after', 5],
  ['erasure before commit', 5],
  ['erasure after commit', 5],
  ['erasure before answer', 5],
]

/** The everyday run takes one point of a request, of a delivery and of an erasure. */
const everydayPoints = ['request before commit', 'delivery answered', 'erasure after commit']
const pointsTaken = isLong
  ? points
  : everydayOr(
      points.filter(([point]) => everydayPoints.includes(point)),
      points,
    )
/** At least one at each point. */
const kills = Math.max(pointsTaken.length, timesOf(0, 5000))
const killsInRun = Math.min(100, kills)
const runs = Math.ceil(kills / killsInRun)
/** Only catches a hang: each kill is a whole start of the service, on a machine that may be busy. */
const patience = 600_000 + killsInRun * 30_000

let stage: FaultStage | undefined
let proxy: PostgresProxy | undefined
afterEach(async () => {
  await stage?.close()
  stage = undefined
  await proxy?.close()
  proxy = undefined
})

/**
 * Waits until this many more were acknowledged, which shows that the service works. Not by `expect.poll`, which does not know its
 * test where tests run side by side.
 */
async function more(journal: Journal, count: number): Promise<void> {
  const wanted = journal.acknowledged() + count
  await vi.waitFor(() => expect(journal.acknowledged()).toBeGreaterThan(wanted), {
    timeout: 120_000,
    interval: 20,
  })
}

/**
 * Long runs that failed by a fault of the service stay here forever, with as many kills as it takes to get to what failed: they take
 * every point in each run. None is known.
 */
const kept: readonly (readonly [seed: number, kills: number])[] = []
const plans = [
  ...kept.map(([seed, kills]) => ({ seed, kills, taken: points })),
  ...seedsOf(runs).map(seed => ({ seed, kills: killsInRun, taken: pointsTaken })),
]

test.concurrent.each(plans)(
  '$kills kills at named points of requests, deliveries and erasures (TEST_SEED=$seed): all books agree',
  async ({ seed, kills, taken }) => {
    const random = openRandom(seed)
    const stage = await openFaultStage()
    try {
      const journal = stage.openJournal({ writers: 8, name: `s${seed}` })
      for (let kill = 0; kill < kills; kill += 1) {
        // Each point in its turn, so that a short pass meets all.
        const [point, most] = taken[kill % taken.length] as (typeof points)[number]
        await killAt(stage, { point, count: 1 + random(most) })
      }
      await stage.start()
      await more(journal, 20)
      await journal.stop()
      await stage.check(journal)
    } finally {
      await stage.close()
    }
  },
  patience,
)

/** Starts a process, and waits until it has ended at that point. */
async function killAt(stage: FaultStage, fault: { point: string; count: number }): Promise<void> {
  const service = await stage.start({ fault })
  if (service === 'killed') return
  if (service.child.signalCode === null)
    await Promise.race([
      once(service.child, 'exit'),
      new Promise((_, reject) => {
        const late = new Error(`never passed: ${JSON.stringify(fault)}`)
        setTimeout(() => reject(late), 120_000).unref()
      }),
    ])
  expect(service.child.signalCode).toBe('SIGKILL')
}

/** But for a long run, each of the three fates of a COMMIT once. */
const cut = timesOf(3, 1000)

test(
  `${cut} connections cut after COMMIT was sent, under load: all books agree`,
  async () => {
    stage = await openFaultStage({
      through: async address => {
        proxy = await startPostgresProxy(address)
        return proxy.url
      },
    })
    await stage.start()
    const journal = stage.openJournal({ writers: 8, name: 'cut' })
    for (let done = 0; done < cut; done += 1) {
      const fate = (['after', 'before', 'late'] as const)[done % 3] ?? 'after'
      // Part of the body of every event, so of every write of a user.
      await proxy?.arm(fate, '"eventname"')
    }
    await more(journal, 20)
    await journal.stop()
    await stage.check(journal)
  },
  300_000 + cut * 10_000,
)

const ended = timesOf(3, 1000)

test(
  `${ended} connections of the service ended by the database, under load: all books agree`,
  async () => {
    stage = await openFaultStage()
    await stage.start()
    const { database } = stage
    await database.learnCells()
    const [node = database] = database.cells()
    const journal = stage.openJournal({ writers: 8, name: 'ended' })
    await more(journal, 20)
    for (let done = 0; done < ended; done += 1) {
      await node.query(sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() order by random() limit 1`)
      await more(journal, 2)
    }
    await journal.stop()
    await stage.check(journal)
  },
  300_000 + ended * 10_000,
)

test('two processes whose clocks are an hour apart, the one ahead killed and started anew: all books agree', async () => {
  stage = await openFaultStage()
  const { database, start } = stage
  const ahead = await start({ process: 1, aheadMs: 3_600_000 })
  const slow = await start({ process: 0 })
  // But for a long run, most of this is the wait until the killed one's claims end.
  const pace = isLong ? { writers: 12 } : { writers: 4, pauseMs: 300 }
  const journal = stage.openJournal({ ...pace, name: 'clocks', processes: 2 })
  await more(journal, isLong ? 100 : 20)
  if (ahead !== 'killed') await ahead.stop('SIGKILL')
  // What the killed one had claimed is due again by the database's clock, not an hour later by its own.
  const bySlow = () =>
    database.query(sql`
      select from delivery_attempts where started_at < clock_timestamp() + interval '30 minutes' limit 1`)
  await vi.waitFor(async () => expect(await bySlow()).toHaveLength(1), { timeout: 120_000, interval: 100 })
  await start({ process: 1, aheadMs: 3_600_000 })
  await more(journal, isLong ? 100 : 20)
  await journal.stop()
  // An event of the process ahead is due for the slow one only in an hour; the one that remains delivers all.
  if (slow !== 'killed') expect(await slow.stop()).toBe(0)
  await stage.check(journal)
})
