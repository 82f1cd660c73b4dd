import { formatTimestamp, type Instant, type Zone } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { type Deed, record } from '../screen/record.ts'
import type { FileAnswer, OperatorVisit } from '../screen/screen.ts'
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

/** A list that the query of an address sorts, filters and pages. */
export type List<Row> = {
  readonly path: string
  /** The address of its file, where that is not `path` with `.csv`. */
  readonly filePath?: string
  readonly caption: string
  readonly empty: string
  readonly columns: readonly Column<Row>[]
  /** The rows that match the filter, in the list's own order. */
  readonly rows: readonly Row[]
  /** The filters in the address, which links keep. */
  readonly filters: Readonly<Record<string, string>>
  /**
   * The id of the form that asks for the list, where no address may say what it shows, such as a search for a userid. Its
   * headings and pages are then buttons of this form instead of links.
   */
  readonly formId?: string
}

/** The number of rows on a page. */
export const ROWS_A_PAGE = 50

/** The rows in the requested order, such as `sort=-waiting`; an unknown column leaves the order unchanged. */
export function sortedRows<Row>({ columns, rows }: List<Row>, query: URLSearchParams): readonly Row[] {
  const [, down, name] = /^(-?)(\w+)$/.exec(sortOf(query)) ?? []
  const value = columns.find(one => one.name === name)?.value
  if (!value) return rows
  const sign = down === '-' ? -1 : 1
  // Each value is made once: a comparison that writes a date costs more than all else of a sort.
  const keyed = rows.map(row => ({ row, value: keyOf(firstOf(value(row))) }))
  return keyed.sort((a, b) => sign * compare(a.value, b.value)).map(({ row }) => row)
}

/** The order that an address or a form asks for. A pressed heading comes after the field that keeps the present order. */
function sortOf(query: URLSearchParams): string {
  return query.getAll('sort').at(-1) ?? ''
}

/** A part of a page with one page of a list, and the list's file for those who may take it. */
export function listPart<Row>(visit: OperatorVisit, heading: string, list: List<Row>): Html {
  const query = queryFor(visit, list)
  return section(
    heading,
    listTable(list, query),
    visit.isSupport && !isFew(list.rows) && csvLink(list, query),
  )
}

/** What asks for a list: an address, or a form. */
function queryFor(
  { query, form }: OperatorVisit,
  { formId }: Pick<List<unknown>, 'formId'>,
): URLSearchParams {
  return formId === undefined ? query : form
}

/** Whether so few rows are read at a glance: they have no file on their page, and no headings that sort. */
export function isFew(rows: readonly unknown[]): boolean {
  return rows.length <= FEW_ROWS
}

const FEW_ROWS = 7

/** One page of a list as a table: clicking a heading sorts by it, clicking it again reverses the order. */
export function listTable<Row>(list: List<Row>, query: URLSearchParams): Html {
  const { caption, empty, formId } = list
  const columns = pageColumns(list.columns)
  const rows = sortedRows(list, query)
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_A_PAGE))
  const page = Math.min(pages, Math.max(1, Number.parseInt(query.get('page') ?? '', 10) || 1))
  const sort = sortOf(query)
  const to = (more: Readonly<Record<string, string>>) => addressOf(list, query, more)
  const toPage = (page: number, label: string) =>
    formId === undefined
      ? html`<a href="${to({ page: String(page) })}">${label}</a>`
      : html`<button class="quiet" form="${formId}" name="page" value="${page}">${label}</button>`
  return html`${table({
    caption,
    columns: columns.map(({ name, label, value }) =>
      value === undefined || isFew(rows)
        ? label
        : sortHeading({ name, label, sort, formId, to: next => to({ sort: next }) }),
    ),
    rows: rows
      .slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE)
      .map(row => columns.map(column => cellOf(column, row))),
    empty,
  })}
${
  pages > 1 &&
  html`<p class="row">${page > 1 && toPage(page - 1, 'Previous')}
<span class="hint">Page ${page} of ${pages}, ${rows.length} in all</span>${
    page < pages && toPage(page + 1, 'Next')
  }</p>`
}`
}

/** An address of a list, which keeps its filters and its order. */
function addressOf(
  { path, filters }: Pick<List<unknown>, 'path' | 'filters'>,
  query: URLSearchParams,
  more: Readonly<Record<string, string>> = {},
): string {
  const sort = sortOf(query)
  return `${path}?${new URLSearchParams({ ...filters, ...(sort === '' ? {} : { sort }), ...more })}`
}

/** A heading that is a link or a button: it sorts by its column, and reverses the order where that is the order already. */
export function sortHeading(heading: {
  readonly name: string
  readonly label: string
  /** The present order, such as `-waiting`. */
  readonly sort: string
  readonly formId?: string | undefined
  readonly to: (sort: string) => string
}): Html {
  const { name, label, sort, formId, to } = heading
  const [state, next] =
    sort === name ? ['ascending', `-${name}`] : [sort === `-${name}` ? 'descending' : 'none', name]
  const arrow = { ascending: ' ↑', descending: ' ↓' }[state] ?? ''
  const shown = html`${label}<span aria-hidden="true">${arrow}</span>`
  return html`<th scope="col" aria-sort="${state}">${
    formId === undefined
      ? html`<a href="${to(next)}">${shown}</a>`
      : html`<button form="${formId}" name="sort" value="${next}">${shown}</button>`
  }</th>`
}

/** The field with which a form of filters keeps the order. */
export function sortField(query: URLSearchParams): Slot {
  const sort = sortOf(query)
  return sort !== '' && html`<input type="hidden" name="sort" value="${sort}">`
}

/** The link or the button to the same list as a file. */
export function csvLink(
  list: Pick<List<unknown>, 'path' | 'filePath' | 'filters' | 'formId'>,
  query: URLSearchParams,
): Html {
  const { path, filePath = `${path}.csv`, filters, formId } = list
  if (formId !== undefined)
    return html`<button class="quiet" form="${formId}" formaction="${filePath}" data-download>CSV</button>`
  return html`<a href="${addressOf({ path: filePath, filters }, query)}">CSV</a>`
}

/** All rows of a list as a file, on record. */
export async function listFile<Row>(
  visit: OperatorVisit,
  list: List<Row>,
  { file, ...deed }: Deed & { readonly file: string },
): Promise<FileAnswer> {
  await record(visit, deed)
  return { file, type: CSV, content: listLines(list, queryFor(visit, list)) }
}

/** The lines of such a file. */
export function listLines<Row>(list: List<Row>, query: URLSearchParams): string {
  const names = fileColumns(list.columns).map(({ name }) => name)
  return csvLines([names, ...sortedRows(list, query).flatMap(row => linesOf(list.columns, row))])
}

/** The columns of a page. */
export function pageColumns<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  return columns.filter(({ isOfFile }) => !isOfFile)
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

function keyOf(value: string | number): string | number {
  return typeof value === 'number' ? value : value.toLowerCase()
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [first, second] = [String(a), String(b)]
  return first < second ? -1 : first > second ? 1 : 0
}
