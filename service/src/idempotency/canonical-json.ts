/**
 * A JSON value in the form of RFC 8785: two texts of the same value become the same text, whatever the order of their
 * members. The value must come from `JSON.parse`, and its texts must not contain lone surrogates, which request bodies
 * never do.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  // JavaScript sorts and writes texts and numbers as the RFC requires, because the RFC was written after JavaScript's
  // rules.
  const members = Object.keys(value)
    .sort()
    .map(name => `${JSON.stringify(name)}:${canonicalJson((value as Record<string, unknown>)[name])}`)
  return `{${members.join(',')}}`
}
