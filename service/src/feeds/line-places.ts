import type { Executor } from '../db/database.ts'
import type { LinePlace } from './answers-x12.ts'
import { type FileContext, feedOfRun } from './hand-over.ts'
import { readRunLines } from './run-lines.ts'
import type { Run } from './store.ts'
import { LINES_OF_A_SET, SEGMENTS_OF_A_HEAD, x12Format } from './x12-format.ts'

/** Where each line of a run stands in its X12 file, found by writing the file again. */
export async function placesOfRun(db: Executor, context: FileContext, run: Run): Promise<LinePlace[]> {
  const feed = await feedOfRun(db, run)
  await context.published.prepare([run.catalogueVersion])
  const catalogue = context.published.version(run.catalogueVersion)
  const format = x12Format(feed, run)
  format.head()
  const places: LinePlace[] = []
  let last = SEGMENTS_OF_A_HEAD
  for await (const page of readRunLines(db, await context.partners(), { feed, run: run.run, catalogue }))
    for (const { line, values } of page) {
      const index = places.length % LINES_OF_A_SET
      if (index === 0) last = SEGMENTS_OF_A_HEAD
      // A new set begins with its own head, which comes before this line in the same bytes.
      const head = index === 0 && places.length > 0 ? SEGMENTS_OF_A_HEAD + 1 : 0
      const segments = format.line(values).toString('latin1').split('~').length - 1 - head
      const set = Math.floor(places.length / LINES_OF_A_SET) + 1
      places.push({ line, set, first: last + 1, last: last + segments })
      last += segments
    }
  return places
}
