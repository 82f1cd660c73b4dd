/**
 * The parts as one sequence of bytes, each preceded by its length, so that no two lists of parts give the same
 * bytes.
 */
export function joinParts(parts: readonly (string | Buffer)[]): Buffer {
  let size = 0
  for (const part of parts) size += LENGTH_BYTES + byteLength(part)
  const joined = Buffer.allocUnsafe(size)
  let at = 0
  for (const part of parts) {
    const length = byteLength(part)
    at = joined.writeUInt32BE(length, at)
    if (typeof part === 'string') joined.write(part, at)
    else part.copy(joined, at)
    at += length
  }
  return joined
}

const LENGTH_BYTES = 4

function byteLength(part: string | Buffer): number {
  return typeof part === 'string' ? Buffer.byteLength(part) : part.length
}
