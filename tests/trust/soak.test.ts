import { execFileSync } from 'node:child_process'
import { afterEach, expect, test } from 'vitest'
import { isLong, minutesOf } from '../long.ts'
import { type FaultStage, openFaultStage } from './stage.ts'

/** How long the service is kept busy; the full figure is half an hour. */
const minutes = Number(process.env['TEST_SOAK_MINUTES'] ?? minutesOf(30))

let stage: FaultStage | undefined
afterEach(() => stage?.close())

function rssOf(pid: number): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}
function medianOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}

test.skipIf(!isLong)(
  `${minutes} minutes of writes, deliveries and erasures: memory is flat, and all books agree`,
  async () => {
    stage = await openFaultStage()
    const service = await stage.start()
    if (service === 'killed') throw new Error('killed without a fault')
    const journal = stage.openJournal({ writers: 4, name: 'soak', pauseMs: 50 })
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
    await stage.check(journal)
  },
  minutes * 60_000 + 600_000,
)
