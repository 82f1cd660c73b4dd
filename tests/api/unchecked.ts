/**
 * Takes a value for one of another type, like a partner's code that no compiler has seen. It is the only cast in the
 * API's tests, for wrong types, unknown fields and missing ones.
 */
export function unchecked<T>(value: unknown): T {
  return value as T
}
