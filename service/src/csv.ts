/**
 * One line of a CSV file (RFC 4180) without its line end. A cell that a spreadsheet would run as a formula gets an
 * apostrophe in front, because people can choose their names.
 */
export function csvLine(cells: readonly (string | number)[]): string {
  return cells.map(cellOf).join(',')
}

function cellOf(value: string | number): string {
  if (typeof value === 'number') return String(value)
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
