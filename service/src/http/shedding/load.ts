import { performance } from 'node:perf_hooks'
import type { Gate } from './gate.ts'
import { watchLoopDelay } from './loop-delay.ts'

const REPORT_EVERY_MS = 5000

/**
 * Reports the event-loop delay to a gate, and refusals to the log, as sums at most every five seconds, because a line
 * for each would cost more than the refusals. `onTick` is called ten times a second. Returns a function that ends it,
 * after a last line for unreported refusals.
 */
export function watchLoad(
  gate: Gate,
  log: (event: string, fields: Record<string, unknown>) => void,
  onTick: () => void,
): () => void {
  let reported = gate.numbers().shed
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = () => {
    const { shed, inFlight, partners, loopDelayMs } = gate.numbers()
    const full = shed.full - reported.full
    const share = shed.share - reported.share
    const time = shed.time - reported.time
    const delay = shed.delay - reported.delay
    if (full + share + time + delay === 0) return
    log('shed', { full, share, time, delay, inflight: inFlight, partners, delayms: Math.round(loopDelayMs) })
    reported = shed
    reportedAt = performance.now()
  }
  let utilization = performance.eventLoopUtilization()
  const end = watchLoopDelay(lastingMs => {
    const now = performance.eventLoopUtilization()
    gate.noteDelay(lastingMs, now.active - utilization.active)
    utilization = now
    if (performance.now() - reportedAt >= REPORT_EVERY_MS) report()
    onTick()
  })
  return () => {
    end()
    report()
  }
}
