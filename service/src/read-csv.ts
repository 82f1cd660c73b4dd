/** One row of a CSV file: its cells, and the line at which it begins, as an editor counts. */
export type CsvRow = {
  readonly line: number
  readonly cells: readonly string[]
  /** A quote of it is never closed, or a cell without quotes has half a pair: it may be what is left of two rows. */
  readonly isBroken?: true
}

/**
 * The rows of a CSV text (RFC 4180), with or without carriage returns. Empty lines are left out, and so is a byte order mark. A
 * quoted cell that is never closed goes on to the end of the text.
 */
export function* readCsv(text: string, delimiter = ','): Generator<CsvRow> {
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  while (at < text.length) {
    const begun = line
    const cells: string[] = []
    let isLast = false
    let isBroken = false
    while (!isLast) {
      let cell = ''
      while (text[at] === '"') {
        const close = endOfQuoted(text, at + 1)
        const quoted = text.slice(at + 1, close)
        isBroken ||= close === text.length
        line += quoted.split('\n').length - 1
        cell += quoted.replaceAll('""', '"')
        at = close + 1
      }
      const end = endOfPlain(text, at, delimiter)
      const plain = text.slice(at, end)
      isBroken ||= plain.split('"').length % 2 === 0
      cell += plain
      isLast = text[end] !== delimiter
      at = end + 1
      cells.push(isLast && cell.endsWith('\r') ? cell.slice(0, -1) : cell)
    }
    line += 1
    if (cells.length > 1 || cells[0] !== '') yield { line: begun, cells, ...(isBroken && { isBroken }) }
  }
}

/** The index of the quote that closes a cell; a doubled one belongs to it. */
function endOfQuoted(text: string, from: number): number {
  for (let at = from; ; at += 2) {
    at = text.indexOf('"', at)
    if (at < 0) return text.length
    if (text[at + 1] !== '"') return at
  }
}

function endOfPlain(text: string, from: number, delimiter: string): number {
  let at = from
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at += 1
  return at
}
