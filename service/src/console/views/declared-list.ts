import { type Html, html, type Slot } from '../../http/html.ts'
import type { Role } from '../../operators/operator.ts'
import type { Partner } from '../../partners/partner.ts'
import { record } from '../screen/record.ts'
import { type Answer, type OperatorVisit, onGet, type Screen } from '../screen/screen.ts'
import { type Column, CSV, csvLines, fileColumns, linesOf, listTable } from './list.ts'
import { section, selectField } from './parts.ts'

/** A list with a screen of its own: its page, the form of its filters, its file and its audit entries follow from it. */
type DeclaredList<Row> = {
  readonly path: string
  /** The lowest role that may see the page; the file is for support and above. */
  readonly role: Role
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
  readonly partner?: Partner | undefined
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
    onGet(list.path, list.role, async visit => pageOfList(visit, list.path, await list.open(visit))),
    onGet(`${list.path}.csv`, 'support', async visit => fileOfList(visit, list, await list.open(visit))),
  ]
}

async function pageOfList<Row>(
  visit: OperatorVisit,
  declaredPath: string,
  list: OpenList<Row>,
): Promise<Answer> {
  const { path = declaredPath, title, heading, filters, looked, partner, serviceId, rows } = list
  const { query, isSupport } = visit
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
    isSupport && html`<a href="${to({}, '.csv')}">CSV</a>`,
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
  const { query, context } = visit
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
      const position = after
      const page = await context.slow.inTurn(() => (rows as LongRows<Row>).read(position, isDown))
      yield lines(page.rows)
      after = page.next
    } while (after !== undefined)
  }
  return { file, type: CSV, content: content() }
}
