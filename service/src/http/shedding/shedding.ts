/**
 * Load shedding: a process that has more requests than it can serve refuses some at once, instead of serving all too
 * late, and begins the others in turn (`turns.ts`). The rule is pure (`admission.ts`); the gate (`gate.ts`) counts for all
 * other files.
 */
import type { FastifyInstance } from 'fastify'
import type { AdmissionLimits } from './admission.ts'
import { type GateNumbers, openGate } from './gate.ts'
import { watchLoad } from './load.ts'
import { type EarlyContext, refuseEarly } from './refuse-early.ts'
import { refuseRouted } from './refuse-routed.ts'
import { openResting } from './resting.ts'
import { openTurns, type TurnLimits } from './turns.ts'

/** Load shedding of one server. */
export type Shedding = {
  numbers(): GateNumbers
  /** Reads from every connection again: one that is idle is closed by a stop, which would lose an unread request. */
  endRests(): void
  /** Stops watching the event loop, after a last log line for unreported refusals. */
  close(): void
}

/** Begins to refuse requests for which the server has no room; routes that were mounted earlier are never refused. */
export function openShedding(
  app: FastifyInstance,
  context: Omit<EarlyContext, 'gate' | 'turns' | 'resting'> & {
    readonly limits: AdmissionLimits
    readonly log: (event: string, fields: Record<string, unknown>) => void
    /** Called ten times a second. */
    readonly onTick: () => void
  },
): Shedding {
  const gate = openGate(context.limits)
  const turns = openTurns(turnLimits)
  const resting = openResting(turns)
  refuseRouted(app, { ...context, gate, turns, resting })
  refuseEarly(app, { ...context, gate, turns, resting })
  const tick = () => {
    turns.tick()
    context.onTick()
  }
  return { numbers: gate.numbers, endRests: resting.end, close: watchLoad(gate, context.log, tick) }
}

/**
 * Enough for a full batch of 128 prefills to be written while another, which starts beside it from 64 on, is gathered and
 * decided. A thousand at once cost a quarter more processor time each, in garbage collections. A tick is a tenth of a
 * second, and nothing waits for longer than five.
 */
const turnLimits: TurnLimits = { atOnce: 224, longestTicks: 3, patienceTicks: 50 }
