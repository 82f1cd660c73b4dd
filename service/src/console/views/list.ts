import { csvLine } from '../../csv.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { FileAnswer } from '../page/screen.ts'

/** One column of a list: how a cell is shown, sorted and exported. */
export type Column<Row> = {
  /** Its name in an address and in the first line of a CSV file. */
  readonly name: string
  readonly label: string
  readonly cell: (row: Row) => Slot
  readonly value: (row: Row) => string | number
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
}

/** The number of rows on a page. */
export const ROWS_A_PAGE = 50

/** The rows in the requested order, such as `sort=-waiting`; an unknown column leaves the order unchanged. */
export function sortedRows<Row>({ columns, rows }: List<Row>, query: URLSearchParams): readonly Row[] {
  const [, down, name] = /^(-?)(\w+)$/.exec(query.get('sort') ?? '') ?? []
  const column = columns.find(one => one.name === name)
  if (!column) return rows
  const sign = down === '-' ? -1 : 1
  return [...rows].sort((a, b) => sign * compare(column.value(a), column.value(b)))
}

/** One page of a list as a table: clicking a heading sorts by it, clicking it again reverses the order. */
export function listTable<Row>(list: List<Row>, query: URLSearchParams): Html {
  const { caption, columns, path, filters, empty } = list
  const rows = sortedRows(list, query)
  if (rows.length === 0) return html`<p class="hint">${empty}</p>`
  const sort = query.get('sort') ?? ''
  const pages = Math.ceil(rows.length / ROWS_A_PAGE)
  const page = Math.min(pages, Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1))
  const shown = rows.slice((page - 1) * ROWS_A_PAGE, page * ROWS_A_PAGE)
  const to = (more: Readonly<Record<string, string>>) =>
    `${path}?${new URLSearchParams({ ...filters, ...(sort === '' ? {} : { sort }), ...more })}`
  const heading = ({ name, label }: Column<Row>) =>
    sortHeading({ name, label, sort, to: next => to({ sort: next }) })
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table><caption class="unseen">${caption}</caption>
<thead><tr>${columns.map(heading)}</tr></thead>
<tbody>${shown.map(row => html`<tr>${columns.map(column => html`<td>${column.cell(row)}</td>`)}</tr>`)}</tbody></table></div>
${pages > 1 && html`<p class="row">${page > 1 && html`<a href="${to({ page: String(page - 1) })}">Previous</a>`}<span class="hint">Page ${page} of ${pages}, ${rows.length} in all</span>${page < pages && html`<a href="${to({ page: String(page + 1) })}">Next</a>`}</p>`}`
}

/** A heading that is a link: it sorts by its column, and reverses the order where that is the order already. */
export function sortHeading(heading: {
  readonly name: string
  readonly label: string
  /** The present order, such as `-waiting`. */
  readonly sort: string
  readonly to: (sort: string) => string
}): Html {
  const { name, label, sort, to } = heading
  const [state, next] =
    sort === name ? ['ascending', `-${name}`] : [sort === `-${name}` ? 'descending' : 'none', name]
  const arrow = { ascending: ' ↑', descending: ' ↓' }[state] ?? ''
  return html`<th scope="col" aria-sort="${state}"><a href="${to(next)}">${label}<span aria-hidden="true">${arrow}</span></a></th>`
}

/** The field with which a form of filters keeps the order. */
export function sortField(query: URLSearchParams): Slot {
  const sort = query.get('sort') ?? ''
  return sort !== '' && html`<input type="hidden" name="sort" value="${sort}">`
}

/** The link to the same list as a file. */
export function csvLink(
  { path, filePath = `${path}.csv`, filters }: Pick<List<unknown>, 'path' | 'filePath' | 'filters'>,
  query: URLSearchParams,
): Html {
  const sort = query.get('sort')
  return html`<a href="${`${filePath}?${new URLSearchParams({ ...filters, ...(sort === null ? {} : { sort }) })}`}">CSV</a>`
}

/** All rows of a list as a file. */
export function listFile<Row>(
  list: List<Row>,
  query: URLSearchParams,
  file: string,
): FileAnswer & { readonly content: string } {
  const lines = sortedRows(list, query).map(row => list.columns.map(column => column.value(row)))
  return {
    file,
    type: 'text/csv; charset=utf-8',
    content: [list.columns.map(({ name }) => name), ...lines].map(line => `${csvLine(line)}\r\n`).join(''),
  }
}

function compare(a: string | number, b: string | number): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [first, second] = [String(a).toLowerCase(), String(b).toLowerCase()]
  return first < second ? -1 : first > second ? 1 : 0
}
