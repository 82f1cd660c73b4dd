/** A place in the event log: at this event. */
export type Place = { readonly position: number; readonly eventId: string }

/** Where a reader came to: the last event it was given, and where that stood. */
export type Cursor = Place

const FORM = /^(\d{1,16})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** Before all events. */
export const LOG_START: Place = { position: 0, eventId: '00000000-0000-0000-0000-000000000000' }
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** A cursor as partners see it: opaque text. */
export const writeCursor = ({ position, eventId }: Cursor): string =>
  Buffer.from(`${position}.${eventId}`).toString('base64url')

/** What `writeCursor` wrote; `undefined` for any other text. */
export const readCursor = (text: string): Cursor | undefined => {
  const bytes = Buffer.from(text, 'base64url')
  const match = FORM.exec(bytes.toString('latin1'))
  if (!match || bytes.toString('base64url') !== text) return undefined
  const [, digits = '', eventId = ''] = match
  const position = Number(digits)
  return Number.isSafeInteger(position) ? { position, eventId } : undefined
}

/** The last place below a position; never before `floor`. */
export const lastBelow = (position: number, floor: Place): Place =>
  position - 1 >= floor.position ? { position: position - 1, eventId: LAST_UUID } : floor

/** Whichever of two places comes first. */
export const earlierOf = (one: Place, other: Place): Place => {
  if (one.position !== other.position) return one.position < other.position ? one : other
  return one.eventId < other.eventId ? one : other
}
