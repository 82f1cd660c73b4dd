// Formats the figures of the HTTP benchmark.

export function print(text) {
  return process.stdout.write(`${text}\n`)
}
export function whole(value) {
  return Number.isFinite(value) ? Math.round(value).toLocaleString('en-US') : ''
}
export function ratio(value) {
  return Number.isFinite(value) ? value.toFixed(2) : ''
}
export function time(value) {
  return Number.isFinite(value) ? value.toFixed(value < 10 ? 2 : 1) : ''
}
export function row(name, ...cells) {
  return print(name.padEnd(34) + cells.map(cell => String(cell).padStart(10)).join(''))
}
