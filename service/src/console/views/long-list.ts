import { type Html, html, type Slot } from '../../http/html.ts'
import { sortHeading } from './list.ts'

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
