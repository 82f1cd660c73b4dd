/** A name that the caller made up. It is shown only if it looks like a name, because values are never echoed. */
export function safeName(name: string): string {
  return /^[A-Za-z_][\w-]{0,39}$/.test(name) ? name : '(unnamed)'
}
