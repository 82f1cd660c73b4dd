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
