/**
 * One line of a CSV file (RFC 4180) without its line end, for people. A cell that a spreadsheet would run as a formula gets an
 * apostrophe in front, because people can choose their names.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return plainCsvLine(
    cells.map(cell => (typeof cell === 'string' && /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell)),
  )
}

/** The same for programs: values are as they are, also where a spreadsheet would take one for a formula. */
export function plainCsvLine(cells: readonly (string | number)[]): string {
  return cells.map(cellOf).join(',')
}

function cellOf(value: string | number): string {
  const text = String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
