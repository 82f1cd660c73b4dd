/** The request of an operation that takes nothing: `{}`. */
export type NoFields = Record<string, never>

/** What one call may ask for besides its request. */
export type CallOptions = {
  /**
   * 1–255 visible ASCII characters. Left out, each call of a write gets a random one, the same on all its tries.
   * Give your own, kept with your data, when the same write must survive a restart of your process.
   */
  idempotencyKey?: string
  /** The language of texts and of `userMessage`: `en` (the default), `es`, or a browser's `Accept-Language`. */
  acceptLanguage?: string
  /** Ends the call, which then rejects with `signal.reason`; what was sent may have worked. */
  signal?: AbortSignal
  /** How long one try may take, in milliseconds; default: the client's. */
  timeoutMs?: number
}

/**
 * `v2`, the default, is idempotent. `v1` sends no key and is never tried again once it was sent, since each
 * request counts (interface §4.1, contract §4).
 */
export type PrefillOptions =
  | (CallOptions & { version?: 'v2' })
  | (Omit<CallOptions, 'idempotencyKey'> & { version: 'v1' })
