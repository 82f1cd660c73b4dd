/** The media types that are stored and served. */
export type MediaType = 'application/pdf' | 'image/png' | 'image/webp'

/** The file name ending of each media type. */
export const ENDINGS: Readonly<Record<MediaType, string>> = {
  'application/pdf': 'pdf',
  'image/png': 'png',
  'image/webp': 'webp',
}

/** The largest size of each media type, in bytes; pictures are small because every page that shows one loads it. */
const MAX_BYTES: Readonly<Record<MediaType, number>> = {
  'application/pdf': 5 * 1024 * 1024,
  'image/png': 64 * 1024,
  'image/webp': 64 * 1024,
}

/** The media type of a file by its first bytes, whatever its name says; `undefined` when it is none of the three. */
export function sniff(content: Buffer): MediaType | undefined {
  if (content.subarray(0, 5).toString('latin1') === '%PDF-') return 'application/pdf'
  if (content.subarray(0, 8).equals(PNG) && content.subarray(12, 16).toString('latin1') === 'IHDR')
    return 'image/png'
  const isRiff = content.subarray(0, 4).toString('latin1') === 'RIFF'
  return isRiff && content.subarray(8, 12).toString('latin1') === 'WEBP' ? 'image/webp' : undefined
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** The media type of an uploaded file, or the reason why it is refused, in words that follow the name of the file. */
export function judgeFile(
  content: Buffer,
  allowed: readonly MediaType[],
): { readonly mediaType: MediaType } | { readonly refused: string } {
  const mediaType = sniff(content)
  if (mediaType === undefined || !allowed.includes(mediaType)) {
    const names = allowed.map(one => ENDINGS[one].toUpperCase()).join(' or ')
    return { refused: `is not a ${names} file, judging by its first bytes; export it again` }
  }
  if (mediaType === 'image/png' && !isWholePng(content))
    return { refused: 'is not a whole PNG file, or has something behind its end; export it again' }
  const most = MAX_BYTES[mediaType]
  if (content.length > most)
    return { refused: `has ${content.length} bytes; make it smaller, ${most} at most` }
  return { mediaType }
}

/** Whether a PNG consists of chunks up to its end, of which the last is IEND. */
function isWholePng(content: Buffer): boolean {
  let at = PNG.length
  let name = ''
  while (name !== 'IEND' && at + CHUNK_FRAME <= content.length) {
    name = content.toString('latin1', at + 4, at + 8)
    at += CHUNK_FRAME + content.readUInt32BE(at)
  }
  return name === 'IEND' && at === content.length
}

/** A chunk's length, name and check sum. */
const CHUNK_FRAME = 12
