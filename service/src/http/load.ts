import type { Gate } from './gate.ts'
import { watchLoopDelay } from './loop-delay.ts'

const tellEveryMs = 5000

/**
 * Tells a gate the event-loop delay, and the log what was refused: a line of sums every five seconds at most, as a line
 * for each would cost more than the refusals. Gives what ends it, with a last line for what was not told yet.
 */
export const watchLoad = (
  gate: Gate,
  log: (event: string, fields: Record<string, unknown>) => void,
): (() => void) => {
  let told = gate.numbers().shed
  let toldAt = Number.NEGATIVE_INFINITY
  const tell = () => {
    const { shed, inFlight, partners, loopDelayMs } = gate.numbers()
    const full = shed.full - told.full
    const share = shed.share - told.share
    const delay = shed.delay - told.delay
    if (full + share + delay === 0) return
    log('shed', { full, share, delay, inflight: inFlight, partners, delayms: Math.round(loopDelayMs) })
    told = shed
    toldAt = performance.now()
  }
  const end = watchLoopDelay(standingMs => {
    gate.noteDelay(standingMs)
    if (performance.now() - toldAt >= tellEveryMs) tell()
  })
  return () => {
    end()
    tell()
  }
}
