import { readJson } from '../http/json-body.ts'
import { isBlank, type Line, openLineCutter } from '../lines.ts'
import { OperatorError } from '../operator-error.ts'
import { type Header, memberOf, readHeader } from './csv-members.ts'
import { type CsvRecord, openCsvReader } from './csv-records.ts'

/** What a file says of one member, not checked yet, or why its line cannot be read; never with a value. */
export type ImportRecord = { readonly line: number } & (
  | { readonly member: unknown }
  | { readonly faults: readonly { readonly field: string; readonly code: string }[] }
)

/** The most bytes of one record. */
const MOST_BYTES = 65_536
const MOST_NESTING = 8
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Reads a file of members, a chunk at a time: NDJSON if its first line begins with a brace, else CSV with a header. Throws
 * OperatorError for a header that cannot be read; every other fault is one of its line.
 */
export async function* readRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRecord[]> {
  const cutter = openLineCutter(MOST_BYTES)
  let reader: ReturnType<typeof openReader> | undefined
  const readAll = (lines: readonly Line[]): ImportRecord[] =>
    lines.flatMap(given => {
      const line = given.number === 1 ? withoutMark(given) : given
      if (!reader && line.bytes && isBlank(line.bytes)) return []
      reader ??= openReader(line)
      return reader.read(line)
    })
  for await (const chunk of chunks) yield readAll([...cutter.cut(chunk)])
  yield [...readAll(cutter.end()), ...(reader?.end() ?? [])]
}

/** Spreadsheets write a byte order mark before the first character. */
function withoutMark({ number, bytes }: Line): Line {
  return { number, bytes: bytes?.subarray(0, 3).equals(byteOrderMark) ? bytes.subarray(3) : bytes }
}

function openReader(first: Line) {
  const isJson = /^\s*[{[]/.test(first.bytes?.subarray(0, 100).toString('latin1') ?? '')
  if (isJson) return { read: readObject, end: () => [] }
  let header: Header | undefined
  const csv = openCsvReader(MOST_BYTES, () => header?.length)
  const take = (records: readonly CsvRecord[]): ImportRecord[] =>
    records.flatMap(record => {
      if (header) return [readRow(header, record)]
      if ('fault' in record)
        throw new OperatorError('The first line cannot be read: it must be a CSV header in UTF-8, or JSON.')
      header = readHeader(record.cells)
      return []
    })
  return { read: (line: Line) => take(csv.read(line)), end: () => take(csv.end()) }
}

function readObject({ number: line, bytes }: Line): ImportRecord[] {
  if (!bytes) return [broken(line, 'too_long')]
  if (isBlank(bytes)) return []
  try {
    return [{ line, member: readJson(bytes, MOST_NESTING, 'The line') }]
  } catch {
    return [broken(line, 'malformed_json')]
  }
}

function readRow(header: Header, record: CsvRecord): ImportRecord {
  const { line } = record
  if ('fault' in record) return broken(line, record.fault)
  if (record.cells.length !== header.length) return broken(line, 'columns')
  return { line, member: memberOf(header, record.cells) }
}

function broken(line: number, code: string): ImportRecord {
  return { line, faults: [{ field: 'line', code }] }
}
