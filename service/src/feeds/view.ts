import { formatTimestamp, timestampOrNull } from '../calendar/calendar.ts'
import type { Run } from './store.ts'

/** A run as commands print it; `file` is where its file is, `null` when it was put nowhere. */
export function viewRun(run: Run, file: string | undefined) {
  return {
    feed: run.feed,
    run: run.run,
    status: run.status,
    lines: run.lines,
    counts: { add: 0, change: 0, correct: 0, end: 0, reinstate: 0, void: 0, ...run.counts },
    file: file ?? null,
  }
}

/** The same with its times. */
export function viewRunWithTimes(run: Run, file: string | undefined) {
  return { ...viewRun(run, file), madeat: formatTimestamp(run.madeAt), takenat: timestampOrNull(run.takenAt) }
}

/** A run as a line of text. */
export function lineOfRun(view: ReturnType<typeof viewRun>): string {
  const counts = Object.entries(view.counts)
    .filter(([, count]) => count > 0)
    .map(([action, count]) => `${action} ${count}`)
  return `${view.feed} run ${view.run}: ${view.status}, lines: ${view.lines}${counts.length > 0 ? ` (${counts.join(', ')})` : ''}`
}
