import { totalmem } from 'node:os'
import { performance } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'
import type { ProcessLoad } from './turns.ts'

const BUSY_SHARE = 0.75
const BUSY_MEMORY_MS = 20
const FULL_SHARE = 0.8

/**
 * The load of this process, one of `processes` that share the machine, with `tick`, which measures memory and the delay of
 * the event loop ten times a second.
 */
export function watchProcess(processes: number) {
  let used = performance.eventLoopUtilization()
  let usedAt = performance.now()
  let share = 0
  let tickAt = performance.now()
  let delayMs = 0
  let isShort = false
  const limit = memoryLimit() / processes
  const isBusy = () => {
    const at = performance.now()
    const passed = at - usedAt
    if (passed < 0.5) return share >= BUSY_SHARE
    const now = performance.eventLoopUtilization()
    const weight = 1 - Math.exp(-passed / BUSY_MEMORY_MS)
    share += (performance.eventLoopUtilization(now, used).utilization - share) * weight
    used = now
    usedAt = at
    return share >= BUSY_SHARE
  }
  const tick = () => {
    const at = performance.now()
    delayMs = Math.max(0, at - tickAt - TICK_MS)
    tickAt = at
    const { used_heap_size: heap, heap_size_limit: heapLimit } = getHeapStatistics()
    isShort = heap > heapLimit * FULL_SHARE || process.memoryUsage.rss() > limit * FULL_SHARE
  }
  const load: ProcessLoad = {
    now: () => performance.now(),
    workedMs: () => performance.eventLoopUtilization().active,
    isBusy,
    isMemoryShort: () => isShort,
  }
  return { load, tick, delayMs: () => delayMs }
}

/** How often the process is measured. */
export const TICK_MS = 100

/** What the machine has, or the container: Node.js tells a number beyond any machine, or 0, where nothing limits it. */
function memoryLimit(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Number.POSITIVE_INFINITY)
}
