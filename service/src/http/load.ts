import { performance } from 'node:perf_hooks'
import type { Gate } from './gate.ts'
import { watchLoopDelay } from './loop-delay.ts'

const tellEveryMs = 5000

/**
 * Tells a gate the event-loop delay, and the log what was refused: a line of sums every five seconds at most, as a line
 * for each would cost more than the refusals. `onLook` is called at each look, ten times a second. Gives what ends it, with
 * a last line for what was not told yet.
 */
export function watchLoad(
  gate: Gate,
  log: (event: string, fields: Record<string, unknown>) => void,
  onLook: () => void = () => {},
): () => void {
  let told = gate.numbers().shed
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = () => {
    const { shed, inFlight, partners, loopDelayMs } = gate.numbers()
    const full = shed.full - told.full
    const share = shed.share - told.share
    const time = shed.time - told.time
    const delay = shed.delay - told.delay
    if (full + share + time + delay === 0) return
    log('shed', { full, share, time, delay, inflight: inFlight, partners, delayms: Math.round(loopDelayMs) })
    told = shed
    toldAt = performance.now()
  }
  let utilization = performance.eventLoopUtilization()
  const end = watchLoopDelay(standingMs => {
    const now = performance.eventLoopUtilization()
    gate.noteDelay(standingMs, now.active - utilization.active)
    utilization = now
    if (performance.now() - toldAt >= tellEveryMs) tell()
    onLook()
  })
  return () => {
    end()
    tell()
  }
}
