import { formatTimestamp, type Instant, type Zone } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { section, table, when } from './parts.ts'

/** One column of a list: how a cell is shown, sorted and exported. */
export type Column<Row> = {
  /** Its name in an address and in the first line of a CSV file. */
  readonly name: string
  readonly label: string
  /** Absent: the value, or `–` where that is empty. */
  readonly cell?: (row: Row) => Slot
  /** Absent: the column is of the page alone. Several values make as many lines of a file, and are not sorted. */
  readonly value?: (row: Row) => Value | readonly Value[]
  /** The column is of the file alone. */
  readonly isOfFile?: true
}

type Value = string | number

/** A column of instants, on the page in the zone of the row's partner; a file has them in UTC. */
export function dated<Row>(
  name: string,
  label: string,
  at: (row: Row) => Instant | null | undefined,
  zone: Zone | ((row: Row) => Zone),
): Column<Row> {
  const zoneOf = typeof zone === 'string' ? () => zone : zone
  const written = (instant: Instant | null | undefined) => (instant == null ? '' : formatTimestamp(instant))
  const cell = (row: Row) => {
    const instant = at(row)
    return instant == null ? '–' : when(instant, zoneOf(row))
  }
  return { name, label, value: row => written(at(row)), cell }
}

/** A table whose columns are declared. */
export type List<Row> = {
  readonly caption: string
  readonly empty: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
}

/** A part of a page with a list. */
export function listPart<Row>(heading: string, list: List<Row>, more?: Slot): Html {
  return section(heading, html`${listTable(list)}${more}`)
}

/** A list as a table; `console.js` sorts one of more than a few rows by a heading that is pressed. */
export function listTable<Row>({ caption, empty, columns, rows }: List<Row>): Html {
  const onPage = columns.filter(({ isOfFile }) => !isOfFile)
  return table({
    caption,
    columns: onPage.map(({ label }) => label),
    rows: rows.map(row => onPage.map(column => cellOf(column, row))),
    empty,
  })
}

/** The columns of a file. */
export function fileColumns<Row>(columns: readonly Column<Row>[]) {
  return columns.flatMap(({ name, value }) => (value ? [{ name, value }] : []))
}

/** The lines of a row in a file: one, or as many as a column has values. */
export function linesOf<Row>(columns: readonly Column<Row>[], row: Row): readonly (readonly Value[])[] {
  const values = fileColumns(columns).map(({ value }) => value(row))
  const count = Math.max(1, ...values.map(one => (typeof one === 'object' ? one.length : 1)))
  return Array.from({ length: count }, (_, index) =>
    values.map(one => (typeof one === 'object' ? (one[index] ?? '') : one)),
  )
}

function firstOf(value: Value | readonly Value[]): Value {
  return typeof value === 'object' ? (value[0] ?? '') : value
}

/** Lines of a CSV file. */
export function csvLines(lines: readonly (readonly (string | number)[])[]): string {
  return lines.map(cells => `${csvLine(cells)}\r\n`).join('')
}

/** The media type of a file of lists. */
export const CSV = 'text/csv; charset=utf-8'

/** A cell of a page. */
export function cellOf<Row>({ cell, value }: Column<Row>, row: Row): Slot {
  if (cell) return cell(row)
  const shown = firstOf(value?.(row) ?? '')
  return shown === '' ? '–' : shown
}
