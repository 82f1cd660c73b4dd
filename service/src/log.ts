/** Writes one structured line; never bodies, never values of requests. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void

/** A log of JSON lines on a stream; control characters are escaped by JSON itself. */
export const logTo = (stream: { write(text: string): unknown }, real: () => number): Log => {
  return (event, fields = {}) => {
    stream.write(`${JSON.stringify({ ...fields, at: new Date(real()).toISOString(), event })}\n`)
  }
}
