import { NIL_UUID } from '../../vault/uuid.ts'

/**
 * How far a reader has read: the last event that it got, and the event's position. The id shows when a restored
 * database has given the position to another event.
 */
export type Cursor = { readonly position: number; readonly eventId: string }

const FORM = /^1\.(\d{1,16})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/

/** The cursor before all events. */
export const LOG_START: Cursor = { position: 0, eventId: NIL_UUID }

/** A cursor as partners get it: opaque text, which begins with the number of its format. */
export function writeCursor({ position, eventId }: Cursor): string {
  return Buffer.from(`1.${position}.${eventId}`).toString('base64url')
}

/** Reads what `writeCursor` wrote; `undefined` for any other text. */
export function readCursor(text: string): Cursor | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const match = FORM.exec(bytes.toString('latin1'))
  if (!match || bytes.toString('base64url') !== text) return undefined
  const [, digits = '', eventId = ''] = match
  const position = Number(digits)
  return Number.isSafeInteger(position) ? { position, eventId } : undefined
}
