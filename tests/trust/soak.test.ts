import { execFileSync } from 'node:child_process'
import { expect, onTestFinished, test } from 'vitest'
import { type Client, createClient } from '../../client/src/index.ts'
import { newWorkplace } from '../command/place.ts'
import { runJson, type ServiceProcess, startProcess } from '../command/process.ts'
import { openBench } from '../faults/bench.ts'
import { createPartnerOf, startReceiver } from '../faults/receiver.ts'
import { isLong, minutesOf } from '../long.ts'
import { ada, adaAsks, demoCatalogueFile } from '../rig.ts'

/** How long the service is kept busy; the full figure is ten minutes. */
const minutes = Number(process.env['TEST_SOAK_MINUTES'] ?? minutesOf(10))

function rssOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}
function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}

test.skipIf(!isLong)(
  `${minutes} minutes of writes, deliveries and erasures: memory is flat, and all books agree`,
  async () => {
    const bench = await openBench()
    onTestFinished(bench.close)
    const service = await bench.start()
    const journal = bench.openJournal({ writers: 4, name: 'soak', pauseMs: 50 })
    const samples: number[] = []
    const until = Date.now() + minutes * 60_000
    while (Date.now() < until) {
      await new Promise(resolve => setTimeout(resolve, 1000))
      samples.push(rssOf(service.pid))
    }
    await journal.stop()
    // The first third fills caches, which are bounded; afterwards nothing may grow.
    const third = Math.floor(samples.length / 3)
    const middle = medianOf(samples.slice(third, 2 * third))
    const last = medianOf(samples.slice(2 * third))
    process.stdout.write(`soak: ${journal.acknowledged()} writes; resident ${middle} kB, then ${last} kB\n`)
    expect(last).toBeLessThan(middle * 1.15)
    await bench.check()
  },
  minutes * 60_000 + 600_000,
)

// The short pass: in seconds the resident memory says nothing, but what is in use after a collection does.
test('lives that have ended, with all their deliveries, do not stay in memory', async () => {
  const { place, remove } = await newWorkplace({
    ENROLMENT_WEBHOOK_ALLOW: '127.0.0.1',
    ENROLMENT_LOG: 'warn',
  })
  onTestFinished(remove)
  const preload = { NODE_OPTIONS: `--import=${new URL('heap.mjs', import.meta.url)}` }
  const receiver = await startReceiver()
  onTestFinished(receiver.close)
  const service = await startProcess(['serve', '--port', '0'], {
    ...place,
    env: { ...place.env, ...preload },
  })
  await runJson(['catalogue', 'publish', demoCatalogueFile], place)
  const { clientid, clientsecret, apikey } = await createPartnerOf(receiver, place)
  const credentials = { clientId: clientid, clientSecret: clientsecret, apiKey: apikey }
  // A machine that stands still answers 503 now and then.
  const client = createClient({ baseUrl: service.address, ...credentials, tries: 9 })
  let lives = 0
  const live = async (count: number) => {
    const until = lives + count
    const liveOn = async () => {
      while (lives < until) {
        lives += 1
        await liveOnce(client, `u-${lives}`)
      }
    }
    await Promise.all(Array.from({ length: 8 }, liveOn))
    await expect.poll(() => receiver.arrived.size).toBe(lives * EVENTS_OF_A_LIFE)
  }
  const inUse: number[] = []
  // The first lives compile code and fill caches.
  for (const count of [70, 120, 120]) {
    await live(count)
    inUse.push(await bytesInUse(service))
  }
  const [first = 0, second = 0, third = 0] = inUse
  // Code that is compiled late and caches that fill show in one of them. A service that held each of its requests would show one and a
  // half times this in both.
  expect(Math.min(second - first, third - second)).toBeLessThan(2_400_000)
  expect(await service.stop()).toBe(0)
})

const EVENTS_OF_A_LIFE = 5

async function liveOnce(client: Client, userid: string): Promise<void> {
  await client.prefillUser({ userid, ...ada }, { idempotencyKey: userid })
  await client.getBenefits({ userid, ...adaAsks })
  await client.createUser({ userid, offername: 'starter' }, { idempotencyKey: userid })
  await client.getUser({ userid })
  await client.getBenefits({ userid, ...adaAsks })
  await client.eraseUser({ userid })
}

/** Has the service collect its garbage; returns how much memory is in use then. */
async function bytesInUse(service: ServiceProcess): Promise<number> {
  const told = () => service.log().filter(({ event }) => event === 'heap')
  const before = told().length
  service.child.kill('SIGUSR2')
  await expect.poll(() => told().length).toBeGreaterThan(before)
  return Number(told().at(-1)?.['bytes'])
}
