/** A line of a text, and its number, as an editor counts; without `bytes` when it is longer than allowed. */
export type Line = { readonly number: number; readonly bytes: Buffer | undefined }

/** Cuts a stream of bytes into lines. */
export type LineCutter = {
  /** The lines that end in this chunk, without their line feeds, each cut when it is taken; take all before the next chunk. */
  cut(chunk: Buffer): Iterable<Line>
  /** The last line, if it has no line feed. */
  end(): Line[]
}

/** Opens a cutter that keeps at most this many bytes: of a longer line only its number is given. */
export function openLineCutter(mostBytes: number): LineCutter {
  let number = 0
  let kept: Buffer[] = []
  let length = 0
  const keep = (part: Buffer) => {
    length += part.length
    if (length > mostBytes) kept = []
    else if (part.length > 0) kept.push(part)
  }
  const finish = (): Line => {
    const [first] = kept
    const whole = kept.length > 1 ? Buffer.concat(kept) : (first ?? EMPTY)
    const line = { number: ++number, bytes: length > mostBytes ? undefined : whole }
    kept = []
    length = 0
    return line
  }
  return {
    *cut(chunk) {
      let from = 0
      for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, from)) {
        if (at > from) keep(chunk.subarray(from, at))
        from = at + 1
        yield finish()
      }
      keep(chunk.subarray(from))
    },
    end: () => (length > 0 ? [finish()] : []),
  }
}

const LINE_FEED = 0x0a
const EMPTY = Buffer.alloc(0)
const blanks: ReadonlySet<number> = new Set([0x09, 0x0d, 0x20])

/** Whether a line has nothing but spaces, tabs and carriage returns. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every(byte => blanks.has(byte))
}
