import type { Instant } from '../../calendar/calendar.ts'
import { countRefused } from '../../feeds/answer-store.ts'
import { countDifferences } from '../../feeds/difference-store.ts'
import { nextDue } from '../../feeds/every.ts'
import { listFeedStates, newestFeeds, type Run } from '../../feeds/store.ts'
import { html, type Slot } from '../../http/html.ts'
import { partnersOf, seenPartners } from '../partners.ts'
import type { OperatorVisit, Screen } from '../screen/screen.ts'
import { dated, listScreens, type OpenList } from '../views/list.ts'
import { counted, type Tone, tag } from '../views/parts.ts'

/** The feeds of all insurers: when each runs, how its last run went, and what waits for somebody. */
export const feedListScreens: readonly Screen[] = listScreens({
  path: '/feeds',
  right: 'look',
  exported: 'export feeds',
  open,
})

type FeedLine = {
  readonly feed: string
  readonly insurer: string
  readonly nextRunAt: Instant | undefined
  readonly lastRun: Run | undefined
  readonly refused: number
  readonly differences: number
  readonly oldestAt: Instant | undefined
}

async function open(visit: OperatorVisit): Promise<OpenList<FeedLine>> {
  const { database, real } = visit.context
  const states = await listFeedStates(database)
  const refused = await countRefused(database, await partnersOf(visit))
  const differences = await countDifferences(database, seenPartners(visit))
  const rows = ((await newestFeeds(database))?.feeds ?? []).map(({ feed, insurer, every }): FeedLine => {
    const { publishedAt = real(), lastRun } = states.get(feed) ?? {}
    return {
      feed,
      insurer,
      nextRunAt: every && nextDue(every, Math.max(publishedAt, lastRun?.madeAt ?? 0)),
      lastRun,
      refused: refused.get(feed) ?? 0,
      differences: differences.get(feed)?.count ?? 0,
      oldestAt: differences.get(feed)?.oldestAt,
    }
  })
  return {
    title: 'Feeds',
    heading: 'Feeds, those that wait for somebody first',
    file: 'feeds.csv',
    caption: 'What insurers are told',
    empty: 'No feed is published.',
    filters: [],
    rows: rows.sort((a, b) => waitingIn(b) - waitingIn(a) || (a.feed < b.feed ? -1 : 1)),
    columns: [
      {
        name: 'feed',
        label: 'Feed',
        value: one => one.feed,
        cell: one => html`<a href="/feeds/${one.feed}">${one.feed}</a>`,
      },
      { name: 'insurer', label: 'Insurer', value: one => one.insurer },
      {
        name: 'lastrun',
        label: 'Last run',
        value: one => one.lastRun?.run ?? '',
        cell: ({ lastRun }) => (lastRun ? html`${lastRun.run} ${runTag(lastRun)}` : 'never'),
      },
      dated('made', 'Made', one => one.lastRun?.madeAt, visit.zone),
      {
        name: 'lines',
        label: 'Lines',
        value: one => one.lastRun?.lines ?? '',
        cell: ({ lastRun }) => (lastRun ? linesOf(lastRun) : '–'),
      },
      dated('next', 'Next run', one => one.nextRunAt, visit.zone),
      { name: 'refused', label: 'Refused', value: one => one.refused, cell: one => numberTag(one.refused) },
      {
        name: 'differences',
        label: 'Differences',
        value: one => one.differences,
        cell: one => numberTag(one.differences),
      },
      dated('oldest', 'Oldest difference', one => one.oldestAt, visit.zone),
    ],
  }
}

function waitingIn({ lastRun, refused, differences }: FeedLine): number {
  return (lastRun?.status === 'held' || lastRun?.status === 'made' ? 1_000_000 : 0) + refused + differences
}

function numberTag(count: number): Slot {
  return count === 0 ? '0' : tag(String(count), 'bad')
}

const tones: Readonly<Record<Run['status'], Tone>> = {
  made: 'wait',
  held: 'bad',
  taken: 'good',
  dropped: 'plain',
}

/** The state of a run as a label. */
export function runTag({ status }: Pick<Run, 'status'>): Slot {
  return tag(status, tones[status])
}

/** How many lines a run has, and of which actions. */
export function linesOf({ lines, counts }: Pick<Run, 'lines' | 'counts'>): Slot {
  const each = Object.entries(counts).map(([action, count]) => `${action} ${count}`)
  return html`${counted(lines, 'line')}${each.length > 0 && html`<br><span class="hint">${each.join(', ')}</span>`}`
}
