import { openPublished } from '../catalogue/published.ts'
import { type FeedSchedule, openFeedSchedule } from '../feeds/schedule.ts'
import { describeCause } from '../log.ts'
import { openTerms } from '../membership/reading/open-terms.ts'
import type { Shared } from './shared.ts'

/** Opens the schedule of feeds where there is a folder for their files; each run is a line of the log, with counts only. */
export function openFeeds({ options, clock, allPartners }: Shared): FeedSchedule | undefined {
  const { database, real, log, feeds: places } = options
  if (places?.folder === undefined) return undefined
  const published = openPublished({ database, real })
  return openFeedSchedule({
    database,
    clock,
    published,
    ...openTerms({ published, real }),
    partners: allPartners,
    places,
    onRun: ({ feed, run, status, lines }) => log('feed_run', { feed, run, status, lines }),
    onError: (feed, error) => log('feed_failed', { feed, ...describeCause(error) }),
  })
}
