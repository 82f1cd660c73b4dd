/**
 * Load shedding: a process that has more requests than it can serve refuses some at once, instead of serving all too
 * late. The rule is pure (`admission.ts`); the gate (`gate.ts`) is the only state, which all other files use.
 */
import type { FastifyInstance } from 'fastify'
import type { AdmissionLimits } from './admission.ts'
import { type GateNumbers, openGate } from './gate.ts'
import { watchLoad } from './load.ts'
import { type EarlyContext, refuseEarly } from './refuse-early.ts'
import { refuseRouted } from './refuse-routed.ts'

/** Load shedding of one server. */
export type Shedding = {
  numbers(): GateNumbers
  /** Stops watching the event loop, after a last log line for unreported refusals. */
  close(): void
}

/** Begins to refuse requests for which the server has no room; routes that were mounted earlier are never refused. */
export function openShedding(
  app: FastifyInstance,
  context: Omit<EarlyContext, 'gate'> & {
    readonly limits: AdmissionLimits
    readonly log: (event: string, fields: Record<string, unknown>) => void
    /** Called ten times a second. */
    readonly onTick: () => void
  },
): Shedding {
  const gate = openGate(context.limits)
  refuseRouted(app, { ...context, gate })
  refuseEarly(app, { ...context, gate })
  return { numbers: gate.numbers, close: watchLoad(gate, context.log, context.onTick) }
}
