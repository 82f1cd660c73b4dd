import { cellsOf } from './columns.ts'
import type { Feed } from './feed.ts'
import type { FileFormat } from './written-file.ts'

/** One JSON object a line, with the columns of the feed as its members. */
export function jsonFormat(feed: Feed): FileFormat {
  const names = (feed.columns ?? []).map(({ name }) => name)
  const nothing = () => Buffer.alloc(0)
  return {
    head: nothing,
    line(values) {
      const cells = cellsOf(feed, values)
      return Buffer.from(
        `${JSON.stringify(Object.fromEntries(names.map((name, index) => [name, cells[index]])))}\n`,
      )
    },
    foot: nothing,
  }
}
