import { MINUTE_MS } from '../calendar/calendar.ts'
import { type Repeated, repeatedly } from '../schedule/repeatedly.ts'
import { nextDue } from './every.ts'
import type { Feed } from './feed.ts'
import type { RunContext } from './make-run.ts'
import { SCHEDULE } from './release.ts'
import { type FeedPlaces, runFeed } from './run.ts'
import { listFeedStates, newestFeeds, type Run } from './store.ts'

const LOOK_EVERY_MS = MINUTE_MS
/** How long the schedule leaves a feed alone after its run could not be made or handed over. */
const AFTER_FAULT_MS = 15 * MINUTE_MS

/** Runs feeds when they are due. */
export type FeedSchedule = Repeated & {
  /** Runs every feed that is due now, one after the other; returns their runs. Never rejects. */
  runDue(): Promise<readonly Run[]>
}

/**
 * Opens the schedule of feeds. A feed is due by its `every` after its last run, and while its last run was made and not taken.
 * Several processes may do this beside each other: a run is made once.
 */
export function openFeedSchedule(
  context: RunContext & {
    readonly places: FeedPlaces
    readonly onRun: (run: Run) => void
    readonly onError: (feed: string, error: unknown) => void
  },
): FeedSchedule {
  const { database, clock, places, onRun, onError } = context
  const leftAloneUntil = new Map<string, number>()

  const findDue = async (): Promise<Feed[]> => {
    const feeds = (await newestFeeds(database))?.feeds ?? []
    const states = await listFeedStates(database)
    const now = clock.real()
    return feeds.filter(({ feed, every }) => {
      const state = states.get(feed)
      if (!every || !state || (leftAloneUntil.get(feed) ?? 0) > now || state.lastRun?.status === 'held')
        return false
      const since = Math.max(state.publishedAt, state.lastRun?.madeAt ?? 0)
      return state.lastRun?.status === 'made' || nextDue(every, since) <= now
    })
  }
  const runDue = async (): Promise<readonly Run[]> => {
    const runs: Run[] = []
    try {
      for (const { feed } of await findDue()) {
        try {
          const { run } = await runFeed(context, feed, { asked: { by: SCHEDULE, full: false }, places })
          runs.push(run)
          onRun(run)
        } catch (error) {
          leftAloneUntil.set(feed, clock.real() + AFTER_FAULT_MS)
          onError(feed, error)
        }
      }
    } catch (error) {
      onError('', error)
    }
    return runs
  }
  const looks = repeatedly(LOOK_EVERY_MS, async () => {
    await runDue()
    return LOOK_EVERY_MS
  })
  return { runDue, ...looks }
}
