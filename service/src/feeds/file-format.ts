import { csvFormat } from './csv-format.ts'
import type { Feed } from './feed.ts'
import { jsonFormat } from './json-format.ts'
import type { FileFormat, FileRun } from './written-file.ts'
import { x12Format } from './x12-format.ts'

/** The format of a feed's files. The same run and lines always give the same bytes. */
export function formatOf(feed: Feed, run: FileRun): FileFormat {
  if (feed.format === 'csv') return csvFormat(feed, run)
  return feed.format === 'json' ? jsonFormat(feed) : x12Format(feed, run)
}

const extensions = { csv: 'csv', json: 'jsonl', x12834: 'x12' } as const

/** The name of a run's file, such as `seaview-000007.csv`. */
export function fileNameOf({ feed, format }: Feed, run: number): string {
  return `${feed}-${String(run).padStart(6, '0')}.${extensions[format]}`
}
