import { Gauge, Registry } from 'prom-client'
import type { Partner } from '../partners/partner.ts'

/** Deletes what has expired, step by step. */
type CleanUp = {
  /** Runs every step, also after the failure of another; returns false when one of them left something to do. */
  run(partners: readonly Partner[]): Promise<boolean>
  /** The metric that says which steps failed the last time. */
  metrics(): Promise<string>
  /** Begins no further step. */
  close(): void
}

/** A step of the clean-up; it returns false when more may be left to do at once. */
type Step = (partners: readonly Partner[]) => Promise<unknown>

/**
 * Opens the clean-up. Its steps do not depend on each other, and some keep a promise with a deadline: so each of them
 * runs whatever happened to the others. A failure is handed to `onFailure`; the step runs again at the next clean-up.
 */
export function openCleanUp(
  steps: Readonly<Record<string, Step>>,
  onFailure: (step: string, error: unknown) => void,
): CleanUp {
  const registry = new Registry()
  const failing = new Gauge({
    name: 'clean_up_failing',
    help: '1 when this step of the clean-up failed the last time, else 0',
    labelNames: ['step'],
    registers: [registry],
  })
  for (const step of Object.keys(steps)) failing.set({ step }, 0)
  let isClosed = false
  return {
    async run(partners) {
      let isDone = true
      for (const [step, work] of Object.entries(steps)) {
        if (isClosed) return true
        try {
          if ((await work(partners)) === false) isDone = false
          failing.set({ step }, 0)
        } catch (error) {
          failing.set({ step }, 1)
          onFailure(step, error)
        }
      }
      return isDone
    },
    metrics: () => registry.metrics(),
    close() {
      isClosed = true
    },
  }
}
