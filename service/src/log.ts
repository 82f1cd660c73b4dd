/** Writes one structured line; never bodies, never values of requests. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>) => void

/** A log of JSON lines on a stream; control characters are escaped by JSON itself. */
export const logTo = (stream: { write(text: string): unknown }, real: () => number): Log => {
  return (event, fields = {}) => {
    stream.write(`${JSON.stringify({ ...fields, at: new Date(real()).toISOString(), event })}\n`)
  }
}

/** Of an unexpected error: its class, code and place; never its message, which may hold a value. */
export const describeCause = (cause: unknown): Record<string, unknown> => {
  if (!(cause instanceof Error)) return { cause: typeof cause }
  const frames = (cause.stack ?? '').split('\n').filter(line => line.trimStart().startsWith('at '))
  const { code, constraint, table } = cause as { code?: unknown; constraint?: unknown; table?: unknown }
  return {
    cause: cause.name,
    ...(typeof code === 'string' ? { causecode: code } : {}),
    ...(typeof constraint === 'string' ? { constraint } : {}),
    ...(typeof table === 'string' ? { table } : {}),
    at: frames
      .slice(0, 6)
      .map(line => line.trim().replace(/\(?(?:file:\/\/)?\/.*\/(?=[^/]+:\d+:\d+\)?$)/, '(')),
    ...(cause.cause ? { because: describeCause(cause.cause) } : {}),
  }
}
