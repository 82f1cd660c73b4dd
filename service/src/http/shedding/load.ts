import { performance } from 'node:perf_hooks'
import type { ShedReason } from './admission.ts'
import type { Gate } from './gate.ts'
import { judgeLoopDelay } from './loop-delay.ts'

const SAMPLE_EVERY_MS = 100
const REPORT_EVERY_MS = 5000

/**
 * Samples the event loop ten times a second and reports its delay to a gate; reports refusals to the log, as sums at most
 * every five seconds, because a line for each would cost more than the refusals. `onTick` is called with each sample.
 * Returns a function that ends it, after a last line for unreported refusals.
 */
export function watchLoad(
  gate: Gate,
  log: (event: string, fields: Record<string, unknown>) => void,
  onTick: () => void,
): () => void {
  let reported = gate.numbers().shed
  let reportedAt = Number.NEGATIVE_INFINITY
  const report = () => {
    const { shed, inFlight: inflight, partners, loopDelayMs } = gate.numbers()
    const reasons = Object.keys(shed) as ShedReason[]
    const since = reasons.map(reason => [reason, shed[reason] - reported[reason]] as const)
    if (since.every(([, count]) => count === 0)) return
    log('shed', { ...Object.fromEntries(since), inflight, partners, delayms: Math.round(loopDelayMs) })
    reported = shed
    reportedAt = performance.now()
  }
  const delay = judgeLoopDelay()
  let utilization = performance.eventLoopUtilization()
  let sampledAt = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    const used = performance.eventLoopUtilization()
    delay.note(now - sampledAt - SAMPLE_EVERY_MS)
    gate.noteDelay(delay.lastingMs(), used.active - utilization.active)
    sampledAt = now
    utilization = used
    if (now - reportedAt >= REPORT_EVERY_MS) report()
    onTick()
  }, SAMPLE_EVERY_MS)
  timer.unref()
  return () => {
    clearInterval(timer)
    report()
  }
}
