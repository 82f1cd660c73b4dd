/** A name that the caller made up: shown when it looks like a name, as values are never echoed. */
export function safeName(name: string): string {
  return /^[A-Za-z_][\w-]{0,39}$/.test(name) ? name : '(unnamed)'
}
