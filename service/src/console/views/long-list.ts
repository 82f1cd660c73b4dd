import { type Html, html, type Slot } from '../../http/html.ts'
import { type Deed, record } from '../screen/record.ts'
import type { FileAnswer, Visit } from '../screen/screen.ts'
import { CSV, csvLines, sortHeading } from './list.ts'

/**
 * A list that is too long to be read whole: a page is read from where the page before it ended, and the only column that
 * sorts is the one with an index, so that each page costs the same however long the list is.
 */
export type LongList = {
  readonly path: string
  /** The filters in the address, which links keep. */
  readonly filters: Readonly<Record<string, string>>
  /** The name of the column that sorts. */
  readonly column: string
  /** Whether its greatest values come first. */
  readonly isDown: boolean
}

/** Whether an address asks for the greatest values of the column first; absent or unknown: `otherwise`. */
export function isDownIn(query: URLSearchParams, column: string, otherwise: boolean): boolean {
  const sort = query.get('sort')
  return sort === `-${column}` || (sort !== column && otherwise)
}

/** The query of the list's address, with its order. */
export function queryOf({ filters, column, isDown }: Omit<LongList, 'path'>): string {
  return new URLSearchParams({ ...filters, sort: isDown ? `-${column}` : column }).toString()
}

/** The heading of the column that sorts: a link to the first page of the reverse order. */
export function longHeading(list: LongList, label: string): Html {
  const { path, filters, column, isDown } = list
  return sortHeading({
    name: column,
    label,
    sort: isDown ? `-${column}` : column,
    to: sort => `${path}?${new URLSearchParams({ ...filters, sort })}`,
  })
}

/** The links to the first page, if this is another one, and to the next one, if there is one. */
export function longPages(
  list: LongList,
  { isFirst, next, label = 'Next page' }: { isFirst: boolean; next: string | undefined; label?: string },
): Slot {
  if (isFirst && next === undefined) return ''
  const address = `${list.path}?${queryOf(list)}`
  return html`<p class="row">${!isFirst && html`<a href="${address}">First page</a>`}${next !== undefined && html`<a href="${address}&amp;after=${next}">${label}</a>`}</p>`
}

/** How many rows a page has, and a slice of a file. */
export const ROWS_AT_ONCE = 100

/** Some rows of a long list, and the position after which the next ones begin, if there are more. */
export type Slice<Row, Position> = { readonly rows: readonly Row[]; readonly next: Position | undefined }

/** The rows that were asked for, of which one more than `ROWS_AT_ONCE` were read where there are more. */
export function sliceOf<Row, Position>(
  read: readonly Row[],
  positionOf: (row: Row) => Position,
): Slice<Row, Position> {
  const rows = read.slice(0, ROWS_AT_ONCE)
  const last = rows.at(-1)
  return { rows, next: last && read.length > rows.length ? positionOf(last) : undefined }
}

/** A long list as a file, on record: slice by slice, in the order of the screen, from a position on. */
export async function longFile<Position>(
  visit: Visit,
  { file, ...deed }: Deed & { readonly file: string },
  list: {
    /** The names of the columns. */
    readonly head: readonly string[]
    readonly after?: Position | undefined
    /** Reads a slice as lines. */
    readonly read: (after: Position | undefined) => Promise<Slice<readonly (string | number)[], Position>>
  },
): Promise<FileAnswer> {
  await record(visit, deed)
  async function* content() {
    yield csvLines([list.head])
    let { after } = list
    do {
      const position = after
      const { rows, next } = await visit.context.slow.inTurn(() => list.read(position))
      yield csvLines(rows)
      after = next
    } while (after !== undefined)
  }
  return { file, type: CSV, content: content() }
}
