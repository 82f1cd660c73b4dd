import { formatTimestamp, type Instant, type Zone } from '../../calendar/calendar.ts'
import { csvLine } from '../../csv.ts'
import { type Html, html, type Slot } from '../../http/html.ts'
import type { Right } from '../../operators/operator.ts'
import { type Deed, record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { section, selectField, table, when } from './parts.ts'

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

/** A list with a screen of its own: its page, the form of its filters, its file and its audit entries follow from it. */
type DeclaredList<Row> = {
  readonly path: string
  /** The right that the page takes; the file takes `support`. */
  readonly right: Right
  /** The action of the audit entry about the file. */
  readonly exported: string
  /** The list as the address asks for it. Throws the refusal of an address that names what the operator may not see. */
  readonly open: (visit: OperatorVisit) => Promise<OpenList<Row>>
}

/** A list as one address asks for it. */
export type OpenList<Row> = {
  /** Absent: the declared path. */
  readonly path?: string
  readonly title: string
  /** The heading of the table. */
  readonly heading: string
  readonly caption: string
  readonly empty: string
  readonly filters: readonly Filter[]
  readonly columns: readonly Column<Row>[]
  /** All rows that match the filters, or how to read a page of a list that is too long to be read whole. */
  readonly rows: readonly Row[] | LongRows<Row>
  /** The name of the file. */
  readonly file: string
  /** The action of the audit entry about a look at the page; absent: such a look is not recorded. */
  readonly looked?: string | undefined
  /** The partner whom the list concerns; absent: several or none. */
  readonly partner?: Deed['partner']
  /** The user whom the list concerns, if it is one. */
  readonly serviceId?: string | undefined
  /** The other parts of the page; the file is made without them. */
  readonly around?: (page: LongPage<Row> & { readonly isFirst: boolean }) => Around | Promise<Around>
}

/** What a page has before the form of its list, after the table, and beside it. */
type Around = { readonly above?: Slot; readonly below?: Slot; readonly beside?: Slot }

/** A field of the form of filters; its value is part of the address. */
export type Filter = { readonly name: string; readonly label: string; readonly value: string } & (
  | { readonly options: readonly (string | readonly [value: string, label: string])[] }
  | { readonly type: 'text' | 'date'; readonly size?: number }
)

/**
 * The rows of a list that is too long to be read whole. A page is read from where the page before it ended, and only the
 * column with an index sorts, so that each page costs the same however long the list is.
 */
export type LongRows<Row> = {
  /** The name of the column that sorts, and whether its greatest values come first unless the address says otherwise. */
  readonly sortedBy: string
  readonly isDownFirst: boolean
  /** Reads a page; a position that is damaged leads to the first one. */
  readonly read: (after: string | undefined, isDown: boolean) => Promise<LongPage<Row>>
  readonly nextLabel?: (rows: readonly Row[], isDown: boolean) => string
}

/** Some rows, and the position after which the next ones begin, if there are more. */
export type LongPage<Row> = { readonly rows: readonly Row[]; readonly next: string | undefined }

/** How many rows a page of a long list has, and a slice of its file. */
export const ROWS_AT_ONCE = 100

/** A page of rows of which one more than `ROWS_AT_ONCE` were asked for. */
export function pageOf<Row>(read: readonly Row[], positionOf: (row: Row) => string): LongPage<Row> {
  const rows = read.slice(0, ROWS_AT_ONCE)
  const last = rows.at(-1)
  return { rows, next: last && read.length > rows.length ? positionOf(last) : undefined }
}

/** The screens of a list: the page, and the same rows in the same order as a file. */
export function listScreens<Row>(list: DeclaredList<Row>): readonly Screen[] {
  return [
    onGet(list.path, list.right, async visit => pageOfList(visit, list.path, await list.open(visit))),
    onGet(`${list.path}.csv`, 'support', async visit => fileOfList(visit, list, await list.open(visit))),
  ]
}

async function pageOfList<Row>(
  visit: OperatorVisit,
  declaredPath: string,
  list: OpenList<Row>,
): Promise<Answer> {
  const { path = declaredPath, title, heading, filters, looked, partner, serviceId, rows } = list
  const { query } = visit
  const isDown = 'read' in rows && isDownIn(query, rows)
  const after = query.get('after') ?? undefined
  const page = 'read' in rows ? await rows.read(after, isDown) : { rows, next: undefined }
  if (looked !== undefined) await record(visit, { action: looked, result: 'shown', partner, serviceId })
  const isFirst = after === undefined
  const { above, below, beside } = (await list.around?.({ ...page, isFirst })) ?? {}
  const values = Object.fromEntries(filters.map(({ name, value }) => [name, value]))
  const sort = 'read' in rows ? { sort: isDown ? `-${rows.sortedBy}` : rows.sortedBy } : {}
  const to = (more: Readonly<Record<string, string>>, ending = '') =>
    `${path}${ending}?${new URLSearchParams({ ...values, ...sort, ...more })}`
  const turned = 'read' in rows && to({ sort: isDown ? rows.sortedBy : `-${rows.sortedBy}` })
  const main = html`${section(
    heading,
    html`${listTable({ ...list, rows: page.rows })}<p class="row">${
      !isFirst && html`<a href="${to({})}">First page</a>`
    }${
      page.next !== undefined &&
      html`<a href="${to({ after: page.next })}">${('read' in rows && rows.nextLabel?.(page.rows, isDown)) || 'Next page'}</a>`
    }${turned && html`<a href="${turned}">The other way round</a>`}</p>`,
    visit.may('support') && html`<a href="${to({}, '.csv')}">CSV</a>`,
  )}${below}`
  return {
    title,
    body: html`${above}${filters.length > 0 && filterForm(path, filters, sort.sort)}
${beside ? html`<div class="columns"><div>${main}</div><div>${beside}</div></div>` : main}`,
  }
}

function filterForm(path: string, filters: readonly Filter[], sort: string | undefined): Html {
  return html`<form method="get" action="${path}" class="row">${filters.map(one =>
    'options' in one
      ? selectField(one.name, one.label, one.options, one.value)
      : html`<p class="field"><label for="${one.name}">${one.label}</label><input id="${one.name}" name="${one.name}"
type="${one.type}"${one.size !== undefined && html` size="${one.size}"`} value="${one.value}"
autocomplete="off" spellcheck="false"></p>`,
  )}
${sort !== undefined && html`<input type="hidden" name="sort" value="${sort}">`}<button class="secondary">Show</button></form>`
}

/** Whether an address asks for the greatest values first. */
function isDownIn(
  query: URLSearchParams,
  { sortedBy, isDownFirst }: Pick<LongRows<never>, 'sortedBy' | 'isDownFirst'>,
): boolean {
  const sort = query.get('sort')
  return sort === `-${sortedBy}` || (sort !== sortedBy && isDownFirst)
}

async function fileOfList<Row>(
  visit: OperatorVisit,
  { exported }: DeclaredList<Row>,
  list: OpenList<Row>,
): Promise<Answer> {
  const { query } = visit
  const { rows, columns, file, partner, serviceId } = list
  await record(visit, { action: exported, partner, serviceId })
  const names = fileColumns(columns).map(({ name }) => name)
  const lines = (some: readonly Row[]) => csvLines(some.flatMap(row => linesOf(columns, row)))
  if (!('read' in rows)) return { file, type: CSV, content: csvLines([names]) + lines(rows) }
  const isDown = isDownIn(query, rows)
  async function* content() {
    yield csvLines([names])
    let after: string | undefined
    do {
      const page = await (rows as LongRows<Row>).read(after, isDown)
      yield lines(page.rows)
      after = page.next
    } while (after !== undefined)
  }
  return { file, type: CSV, content: content() }
}

/** A row's position in an order by an instant and an id, as an address carries it. */
export type RowPosition = { readonly at: number; readonly id: string }

/** The text of a position. */
export function positionText({ at, id }: RowPosition): string {
  return `${at}_${id}`
}

/** The position of a text; `undefined` for a damaged one, which leads to the first page. */
export function positionOf(text = ''): RowPosition | undefined {
  const [, at, id] = /^(\d{1,15})_([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(text) ?? []
  return at !== undefined && id !== undefined && Number(at) < LAST ? { at: Number(at), id } : undefined
}

/** Later instants are no timestamps. */
const LAST = Date.UTC(9999)
