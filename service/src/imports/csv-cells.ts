/**
 * The cells of one CSV record (RFC 4180); `undefined` for text after a closing quote and for a quote that never ends. Line
 * breaks inside quotes belong to the cell.
 */
export function recordCells(record: string): string[] | undefined {
  const text = record.replace(/\r?\n?$/, '')
  const cells: string[] = []
  for (let at = 0; ; ) {
    if (text[at] !== '"') {
      const comma = text.indexOf(',', at)
      const end = comma < 0 ? text.length : comma
      cells.push(text.slice(at, end))
      if (comma < 0) return cells
      at = end + 1
      continue
    }
    const close = closingQuote(text, at + 1)
    if (close < 0) return undefined
    cells.push(text.slice(at + 1, close).replaceAll('""', '"'))
    if (close + 1 === text.length) return cells
    if (text[close + 1] !== ',') return undefined
    at = close + 2
  }
}

/** The index of the quote that closes a cell; a doubled one belongs to the cell. */
function closingQuote(text: string, from: number): number {
  for (let at = text.indexOf('"', from); at >= 0; at = text.indexOf('"', at + 2))
    if (text[at + 1] !== '"') return at
  return -1
}
