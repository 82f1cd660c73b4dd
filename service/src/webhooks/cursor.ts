/** A place in the event log: after this event. */
export type Cursor = { readonly transactionId: bigint; readonly eventId: string }

const FORM = /^(\d{1,20})\.([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/
const MAX_ID = 2n ** 64n - 1n
const LAST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/** A cursor as partners see it: opaque text. */
export const writeCursor = ({ transactionId, eventId }: Cursor): string =>
  Buffer.from(`${transactionId}.${eventId}`).toString('base64url')

/** What `writeCursor` wrote; `undefined` for any other text. */
export const readCursor = (text: string): Cursor | undefined => {
  const bytes = Buffer.from(text, 'base64url')
  const match = FORM.exec(bytes.toString('latin1'))
  if (!match || bytes.toString('base64url') !== text) return undefined
  const [, id = '', eventId = ''] = match
  const transactionId = BigInt(id)
  return transactionId <= MAX_ID ? { transactionId, eventId } : undefined
}

/** The last place below a transaction; never before `floor`. */
export const lastBelow = (transactionId: bigint, floor: Cursor): Cursor =>
  transactionId - 1n >= floor.transactionId
    ? { transactionId: transactionId - 1n, eventId: LAST_UUID }
    : floor
