import type { Executor } from '../db/database.ts'
import type { LinePlace } from './answers-x12.ts'
import type { Feed, LineValues } from './feed.ts'
import { type FileContext, feedOfRun } from './hand-over.ts'
import { readRunLines } from './run-lines.ts'
import type { Run } from './store.ts'
import type { FileRun } from './written-file.ts'
import { LINES_OF_A_SET, memberSegments, SEGMENTS_OF_A_HEAD } from './x12-format.ts'

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

/**
 * Returns a function that is called with each line of a file in order, and says where the line stands. An erased person's number
 * of segments is unknown, so each later line of that set has no known place: `first` is Infinity.
 */
export function openPlaces(
  { x12834 }: Feed,
  run: Pick<FileRun, 'isFull'>,
): (sent: { readonly line: number; readonly values: LineValues }) => LinePlace {
  if (!x12834) throw new Error('an 834 feed without its parties')
  let before = { set: 0, line: 0, last: 0 }
  return ({ line, values }) => {
    const set = Math.ceil(line / LINES_OF_A_SET)
    if (set !== before.set) before = { set, line: (set - 1) * LINES_OF_A_SET, last: SEGMENTS_OF_A_HEAD }
    const first = line === before.line + 1 ? before.last + 1 : Number.POSITIVE_INFINITY
    const last = first + memberSegments(values, x12834, run).length - 1
    before = { set, line, last }
    return { line, set, first, last }
  }
}
