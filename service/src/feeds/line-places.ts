import type { Executor } from '../db/database.ts'
import type { LinePlace } from './answers-x12.ts'
import type { Feed, LineValues } from './feed.ts'
import { type FileContext, feedOfRun } from './hand-over.ts'
import { readRunLines } from './run-lines.ts'
import type { Run } from './store.ts'
import type { FileRun } from './written-file.ts'
import { LINES_OF_A_SET, SEGMENTS_OF_A_HEAD, x12Format } from './x12-format.ts'

/** Where each line of a run stands in its X12 file, found by writing the file again. */
export async function placesOfRun(db: Executor, context: FileContext, run: Run): Promise<LinePlace[]> {
  const feed = await feedOfRun(db, run)
  await context.published.prepare([run.catalogueVersion])
  const catalogue = context.published.version(run.catalogueVersion)
  const place = openPlaces(feed, run)
  const places: LinePlace[] = []
  for await (const page of readRunLines(db, await context.partners(), { feed, run: run.run, catalogue }))
    places.push(...page.map(place))
  return places
}

/** Returns a function that is called with each line of a file in order, and says where it stands. */
export function openPlaces(
  feed: Feed,
  run: FileRun,
): (sent: { readonly line: number; readonly values: LineValues }) => LinePlace {
  const format = x12Format(feed, run)
  format.head()
  let count = 0
  let last = SEGMENTS_OF_A_HEAD
  return ({ line, values }) => {
    const index = count % LINES_OF_A_SET
    if (index === 0) last = SEGMENTS_OF_A_HEAD
    // A new set begins with its own head, which comes before this line in the same bytes.
    const head = index === 0 && count > 0 ? SEGMENTS_OF_A_HEAD + 1 : 0
    const segments = format.line(values).toString('latin1').split('~').length - 1 - head
    const first = last + 1
    last += segments
    count += 1
    return { line, set: Math.ceil(count / LINES_OF_A_SET), first, last }
  }
}
