import { isBlank, type Line } from '../lines.ts'
import { recordCells } from './csv-cells.ts'

/** A record of a CSV file at its first line: its cells, or what is wrong with it. */
export type CsvRecord = { readonly line: number } & (
  | { readonly cells: readonly string[] }
  | { readonly fault: 'too_long' | 'encoding' | 'quote' }
)

/** Joins lines to records. */
export type CsvReader = {
  /** The records that end with this line; a blank line is none. */
  read(line: Line): CsvRecord[]
  /** The records of the lines that are left at the end of the file. */
  end(): CsvRecord[]
}

const QUOTE = 0x22
const decoder = new TextDecoder('utf-8', { fatal: true })

/**
 * Opens a reader of records of at most this many bytes. A record goes on over line breaks while a quote is open. Where that
 * makes it too long, lasts until the end of the file, or makes other than `width` cells of several lines, its first line alone is
 * at fault, and the lines after it are read by themselves.
 */
export function openCsvReader(mostBytes: number, width: () => number | undefined): CsvReader {
  let open: { readonly number: number; readonly bytes: Buffer }[] = []
  const giveUp = (): CsvRecord[] => {
    const [first, ...rest] = open
    if (!first) return []
    open = []
    return [{ line: first.number, fault: 'quote' }, ...rest.flatMap(read)]
  }
  const read = ({ number, bytes }: Line): CsvRecord[] => {
    if (!bytes) return [...(open.length > 0 ? giveUp() : []), { line: number, fault: 'too_long' }]
    if (open.length === 0 && isBlank(bytes)) return []
    open.push({ number, bytes })
    const whole = join(open)
    if (whole.length > mostBytes) return giveUp()
    if (isQuoteOpen(whole)) return []
    const line = open[0]?.number ?? number
    const record = recordOf(line, whole)
    const isBroken = 'fault' in record || record.cells.length !== (width() ?? record.cells.length)
    if (open.length > 1 && isBroken) return giveUp()
    open = []
    return [record]
  }
  return {
    read,
    end() {
      const records: CsvRecord[] = []
      while (open.length > 0) records.push(...giveUp())
      return records
    },
  }
}

function join(lines: readonly { readonly bytes: Buffer }[]): Buffer {
  const [first, ...more] = lines
  if (more.length === 0) return first?.bytes ?? Buffer.alloc(0)
  return Buffer.concat(lines.flatMap(({ bytes }) => [bytes, lineFeed]))
}
const lineFeed = Buffer.from('\n')

function isQuoteOpen(bytes: Buffer): boolean {
  let isOpen = false
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) isOpen = !isOpen
  return isOpen
}

function recordOf(line: number, bytes: Buffer): CsvRecord {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return { line, fault: 'encoding' }
  }
  const cells = recordCells(text)
  return cells ? { line, cells } : { line, fault: 'quote' }
}
