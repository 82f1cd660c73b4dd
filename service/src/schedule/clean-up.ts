import { Gauge, Registry } from 'prom-client'
import type { Partner } from '../partners/partner.ts'

/** Deletes what has expired, one kind of data after the other. */
type CleanUp = {
  /** Runs every task, also after the failure of another; returns false when one of them returned false. */
  run(partners: readonly Partner[]): Promise<boolean>
  /** The metric that says which tasks failed the last time. */
  metrics(): Promise<string>
  /** Begins no further task. */
  close(): void
}

/** Deletes one kind of data; it returns false when it should run again right away. */
type Task = (partners: readonly Partner[]) => Promise<unknown>

/**
 * Opens the clean-up. Its tasks do not depend on each other, and some keep a promise with a deadline: so each of them
 * runs whatever happened to the others. A failure is handed to `onFailure`; the task runs again at the next clean-up.
 */
export function openCleanUp(
  tasks: Readonly<Record<string, Task>>,
  onFailure: (task: string, error: unknown) => void,
): CleanUp {
  const registry = new Registry()
  const failing = new Gauge({
    name: 'clean_up_failing',
    help: '1 when this task of the clean-up failed the last time, else 0',
    labelNames: ['task'],
    registers: [registry],
  })
  for (const task of Object.keys(tasks)) failing.set({ task }, 0)
  let isClosed = false
  return {
    async run(partners) {
      let isDone = true
      for (const [task, work] of Object.entries(tasks)) {
        if (isClosed) return true
        try {
          if ((await work(partners)) === false) isDone = false
          failing.set({ task }, 0)
        } catch (error) {
          failing.set({ task }, 1)
          onFailure(task, error)
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
