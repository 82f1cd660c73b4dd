import { lineActions } from '../membership/rules/insurer-lines.ts'
import { cellsOf } from './columns.ts'
import { bytesOf, textIn } from './encoding.ts'
import { CSV_DEFAULTS, type CsvForm, delimiterOf, type Feed, type LineValues } from './feed.ts'
import type { FileFormat, FileRun } from './written-file.ts'
import { x12Format, x12Names } from './x12-format.ts'

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

/**
 * A CSV file (RFC 4180). A trailer is a last line of `TRAILER`, the run, the number of data lines, and how many of them are
 * of each action, in the order of the documentation.
 */
function csvFormat(feed: Feed, { run }: Pick<FileRun, 'run'>): FileFormat {
  const form: CsvForm = { ...CSV_DEFAULTS, ...feed.csv, delimiter: delimiterOf(feed) }
  const counts = new Map<string, number>()
  // Plain letters first: “ comes to a quote, and a dash may come to the delimiter.
  const written = (cell: string) => quoted(textIn(cell, form.encoding), form)
  const write = (cells: readonly string[]) =>
    Buffer.from(`${cells.map(written).join(form.delimiter)}\r\n`, bytesOf(form.encoding))
  return {
    head: () => (form.header ? write((feed.columns ?? []).map(({ name }) => name)) : Buffer.alloc(0)),
    line(values) {
      const { action = '' } = values
      counts.set(action, (counts.get(action) ?? 0) + 1)
      return write(cellsOf(feed, values))
    },
    foot() {
      if (!form.trailer) return Buffer.alloc(0)
      const lines = [...counts.values()].reduce((sum, count) => sum + count, 0)
      const each = lineActions.map(action => counts.get(action) ?? 0)
      return write(['TRAILER', ...[run, lines, ...each].map(String)])
    },
  }
}

/** The names of a person as the files of a feed have them. */
export function namesIn({ format, csv }: Feed, names: LineValues): LineValues {
  if (format === 'x12834') return x12Names(names)
  const encoding = (format === 'csv' && csv?.encoding) || CSV_DEFAULTS.encoding
  return Object.fromEntries(Object.entries(names).map(([name, text]) => [name, textIn(text, encoding)]))
}

/** A program reads the file, so a cell is as it is, also where a spreadsheet would take it for a formula. */
function quoted(cell: string, { quote, delimiter }: CsvForm): string {
  const isNeeded = quote === 'all' || cell.includes(delimiter) || /["\r\n]/.test(cell) || /^\s|\s$/.test(cell)
  return isNeeded ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** One JSON object a line, with the columns of the feed as its members. */
function jsonFormat(feed: Feed): FileFormat {
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
