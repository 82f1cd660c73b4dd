import { formatTimestamp, type Instant, type Zone } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import { inSlices } from '../background/give-way.ts'
import type { FileAnswer } from '../screen/screen.ts'
import { when } from './parts.ts'

/** One column of a list: how a cell is shown, sorted and exported. */
export type Column<Row> = {
  /** Its name in an address and in the first line of a CSV file. */
  readonly name: string
  readonly label: string
  /** Absent: the value, or `–` where that is empty. */
  readonly cell?: (row: Row) => Slot
  /** Absent: the column has buttons, so it is neither sorted nor exported. */
  readonly value?: (row: Row) => string | number
}

/** A column of instants, which `shown` writes on the page; a file has them in UTC. */
export function dated<Row>(
  name: string,
  label: string,
  at: (row: Row) => Instant | null | undefined,
  shown: Zone | ((instant: Instant) => Slot),
): Column<Row> {
  const write = typeof shown === 'string' ? (instant: Instant) => when(instant, shown) : shown
  const cellOrNone = (instant: Instant | null | undefined) => (instant == null ? '–' : write(instant))
  const written = (instant: Instant | null | undefined) => (instant == null ? '' : formatTimestamp(instant))
  return { name, label, value: row => written(at(row)), cell: row => cellOrNone(at(row)) }
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
  const { name, isDown } = orderOf(query)
  const value = columns.find(one => one.name === name)?.value
  if (!value) return rows
  const sign = isDown ? -1 : 1
  // Each value is made once: a comparison that writes a date costs more than all else of a sort.
  const keyed = rows.map(row => ({ row, value: keyOf(value(row)) }))
  return keyed.sort((a, b) => sign * compare(a.value, b.value)).map(({ row }) => row)
}

/** The column by which an address or a form sorts, if it names one, and whether the greatest values come first. */
export function orderOf(query: URLSearchParams): { name: string | undefined; isDown: boolean } {
  const [, down, name] = /^(-?)(\w+)$/.exec(sortOf(query)) ?? []
  return { name, isDown: down === '-' }
}

/** The order that an address or a form asks for. A pressed heading comes after the field that keeps the present order. */
function sortOf(query: URLSearchParams): string {
  return query.getAll('sort').at(-1) ?? ''
}

/** One page of a list as a table: clicking a heading sorts by it, clicking it again reverses the order. */
export async function listTable<Row>(list: List<Row>, query: URLSearchParams): Promise<Html> {
  const rows = sortedRows(list, query)
  const page = Math.min(Math.max(1, Math.ceil(rows.length / ROWS_A_PAGE)), pageNumberOf(query))
  const shown = rows.slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE)
  return pageTable({ ...list, rows: shown }, query, { page, total: rows.length })
}

/** The page that an address asks for, from 1 on. */
export function pageNumberOf(query: URLSearchParams): number {
  return Math.min(Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1), LAST_PAGE)
}

/** A page beyond the end of every list, and a number that PostgreSQL accepts. */
const LAST_PAGE = 1_000_000

/** A page that was cut out of a list already, as the same table. */
export async function pageTable<Row>(
  list: List<Row>,
  query: URLSearchParams,
  { page, total }: { page: number; total: number },
): Promise<Html> {
  const { caption, columns, path, filters, empty, formId, rows } = list
  if (rows.length === 0) return html`<p class="hint">${empty}</p>`
  const sort = sortOf(query)
  const pages = Math.ceil(total / ROWS_A_PAGE)
  const shown = await inSlices(
    rows,
    row => html`<tr>${columns.map(column => html`<td>${cellOf(column, row)}</td>`)}</tr>`,
  )
  const to = (more: Readonly<Record<string, string>>) =>
    `${path}?${new URLSearchParams({ ...filters, ...(sort === '' ? {} : { sort }), ...more })}`
  const heading = ({ name, label, value }: Column<Row>) =>
    value === undefined
      ? html`<th scope="col">${label}</th>`
      : sortHeading({ name, label, sort, formId, to: next => to({ sort: next }) })
  const toPage = (page: number, label: string) =>
    formId === undefined
      ? html`<a href="${to({ page: String(page) })}">${label}</a>`
      : html`<button class="quiet" form="${formId}" name="page" value="${page}">${label}</button>`
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption class="unseen">${caption}</caption>
<thead><tr>${columns.map(heading)}</tr></thead>
<tbody>${shown}</tbody></table></div>
${pages > 1 && html`<p class="row">${page > 1 && toPage(page - 1, 'Previous')}<span class="hint">Page ${page} of ${pages}, ${total} in all</span>${page < pages && toPage(page + 1, 'Next')}</p>`}`
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
  const sort = query.get('sort')
  return html`<a href="${`${filePath}?${new URLSearchParams({ ...filters, ...(sort === null ? {} : { sort }) })}`}">CSV</a>`
}

/** All rows of a list as a file. */
export async function listFile<Row>(
  list: List<Row>,
  query: URLSearchParams,
  file: string,
): Promise<FileAnswer & { readonly content: string }> {
  const parts = [headOf(list), await linesOf(list, sortedRows(list, query))]
  return { file, type: 'text/csv; charset=utf-8', content: parts.join('') }
}

/** The same of rows that take long to read, in the order in which they are read. The first line is sent before them. */
export function listFileOf<Row>(
  list: List<Row>,
  readRows: () => Promise<readonly Row[]>,
  file: string,
): FileAnswer {
  async function* parts() {
    yield headOf(list)
    yield await linesOf(list, await readRows())
  }
  return { file, type: 'text/csv; charset=utf-8', content: parts() }
}

function headOf<Row>({ columns }: List<Row>): string {
  return `${csvLine(columns.flatMap(({ name, value }) => (value ? [name] : [])))}\r\n`
}

async function linesOf<Row>({ columns }: List<Row>, rows: readonly Row[]): Promise<string> {
  const values = columns.flatMap(({ value }) => (value ? [value] : []))
  return (await inSlices(rows, row => `${csvLine(values.map(value => value(row)))}\r\n`)).join('')
}

function cellOf<Row>({ cell, value }: Column<Row>, row: Row): Slot {
  if (cell) return cell(row)
  const shown = value?.(row) ?? ''
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
