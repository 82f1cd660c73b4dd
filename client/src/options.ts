/** The input of an operation that takes none: `{}`. */
export type NoFields = Record<string, never>

/** The options of one call. */
export type CallOptions = {
  /**
   * 1–255 visible ASCII characters. Without it, each call of a write gets a random key, the same for all its attempts.
   * Give your own key, stored with your data, when the same write must survive a restart of your process.
   */
  idempotencyKey?: string
  /** The language of texts and of `userMessage`: `en` (the default), `es`, or a browser's `Accept-Language`. */
  acceptLanguage?: string
  /** Ends the call, which then rejects with `signal.reason`; the request may still have succeeded. */
  signal?: AbortSignal
  /** How long one attempt may take, in milliseconds; default: the client's. */
  timeoutMs?: number
}

/**
 * `v2`, the default, is idempotent. `v1` sends no key, and a sent request is never repeated, because each request
 * counts (interface §4.1, contract §4).
 */
export type PrefillOptions =
  | (CallOptions & { version?: 'v2' })
  | (Omit<CallOptions, 'idempotencyKey'> & { version: 'v1' })
