import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** How hard work in the background may push. */
export type Pace = {
  /** Does the work on `items`, slice by slice. */
  drain<Item>(items: readonly Item[], work: (slice: Item[]) => Promise<unknown>): Promise<void>
}

const calmSlice = 256
/** Decided and written in a few milliseconds: that much a request may wait. */
const politeSlice = 16
/** Beside requests, this many times as long as a slice took is left to them. */
const restFactor = 1
const longestRestMs = 200

/** Full strength while nobody asks for anything; beside requests small slices with rests between them. */
export const openPace = (isServing: () => boolean): Pace => ({
  async drain(items, work) {
    for (let done = 0; done < items.length; ) {
      const size = isServing() ? politeSlice : calmSlice
      const startedAt = performance.now()
      await work(items.slice(done, done + size))
      done += size
      if (isServing()) await sleep(Math.min(longestRestMs, (performance.now() - startedAt) * restFactor))
    }
  },
})
