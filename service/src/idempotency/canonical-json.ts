/**
 * A JSON value as RFC 8785 writes it: two texts of the same value, whatever the order of their members, become the same
 * text. The value must come from `JSON.parse`, whose texts held no lone surrogate, as those of request bodies do.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // JavaScript sorts and writes texts and numbers as the RFC wants them: it was written after JavaScript's rules.
  const members = Object.keys(value)
    .sort()
    .map(name => `${JSON.stringify(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`)
  return `{${members.join(',')}}`
}
