import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

const CALM_SLICE = 256
/** A slice this small is decided and written in a few milliseconds, which is how long a request may have to wait. */
const POLITE_SLICE = 16
/** While requests are served, the rest after a slice is this many times as long as the slice took. */
const REST_FACTOR = 1
const LONGEST_REST_MS = 200

/**
 * Hands `items` to `work`, one slice after the other: large slices while no requests are served; otherwise small slices
 * with rests between them.
 */
export async function drain<Item>(
  items: readonly Item[],
  isServing: () => boolean,
  work: (slice: Item[]) => Promise<unknown>,
): Promise<void> {
  for (let done = 0; done < items.length; ) {
    const size = isServing() ? POLITE_SLICE : CALM_SLICE
    const startedAt = performance.now()
    await work(items.slice(done, done + size))
    done += size
    if (isServing()) await sleep(Math.min(LONGEST_REST_MS, (performance.now() - startedAt) * REST_FACTOR))
  }
}
