/**
 * Takes a value for one of another type: what a partner's code sends that no compiler has seen. The only cast of the
 * tests of the API, for wrong types, unknown fields and missing ones.
 */
export function unchecked<T>(value: unknown): T {
  return value as T
}
