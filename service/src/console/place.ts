/** A row's place in an order by an instant and an id, as an address carries it. */
export type Place = { readonly at: number; readonly id: string }

/** The text of a place. */
export function placeText({ at, id }: Place): string {
  return `${at}_${id}`
}

/** The place of a text; `undefined` for a damaged one, which leads to the first page. */
export function placeOf(text: string | null): Place | undefined {
  const [, at, id] = /^(\d{1,15})_([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(text ?? '') ?? []
  return at !== undefined && id !== undefined ? { at: Number(at), id } : undefined
}
