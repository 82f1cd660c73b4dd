/**
 * Load shedding: a process that has more requests than it can serve refuses some at once, instead of serving all too
 * late. The rule is pure (`admission.ts`); the gate (`gate.ts`) is its only state, and every other file asks or tells it.
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
  /** Stops watching the event loop, after a last line in the log for what was not reported yet. */
  close(): void
}

/** Begins to refuse what a server has no room for; routes that are mounted earlier are never refused. */
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
