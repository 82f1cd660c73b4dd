import { describeCause, type Log } from '../../log.ts'
import { ConsoleCloses } from './slow-work.ts'

const KEPT_MS = 60_000

type Counting<Count> = { readonly count: Count; readonly begunAt: number; isDone: boolean }

/**
 * Counts that are made beside the requests, so that no page waits for a count of all users. All operators share them, and
 * one that is done is kept for a minute.
 */
export function openCounts<Count>(
  log: Log,
): (key: string, begin: () => { readonly count: Count; readonly done: Promise<void> }) => Count {
  const counted = new Map<string, Counting<Count>>()
  return (key, begin) => {
    const oldest = performance.now() - KEPT_MS
    for (const [key, one] of counted) if (one.isDone && one.begunAt < oldest) counted.delete(key)
    const known = counted.get(key)
    if (known) return known.count
    const { count, done } = begin()
    const counting = { count, begunAt: performance.now(), isDone: false }
    counted.set(key, counting)
    done.then(
      () => {
        counting.isDone = true
      },
      (error: unknown) => {
        // The next look begins again.
        counted.delete(key)
        if (!(error instanceof ConsoleCloses)) log('failure', describeCause(error))
      },
    )
    return count
  }
}
