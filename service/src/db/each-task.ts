/** Tasks of one piece of work that do not depend on each other. */
type Tasks = {
  /** Runs a task and returns the count that it resolves with; 0 when it has none, fails or is skipped. */
  run(task: () => Promise<unknown>): Promise<number>
  /** Throws the first failure of the tasks, if there was one. */
  end(): void
}

/** Failing tasks may take this long in all: each waits seconds for a database that does not answer. */
const LOST_MS = 5000

/**
 * Opens a piece of work: each task runs whether or not the others fail, unless failures have taken five seconds.
 */
export function openTasks(now: () => number = () => performance.now()): Tasks {
  let failure: { readonly error: unknown } | undefined
  let lost = 0
  return {
    async run(task) {
      if (failure && lost >= LOST_MS) return 0
      const begunAt = now()
      try {
        const count = await task()
        return typeof count === 'number' ? count : 0
      } catch (error) {
        failure ??= { error }
        lost += now() - begunAt
        return 0
      }
    },
    end() {
      if (failure) throw failure.error
    },
  }
}
