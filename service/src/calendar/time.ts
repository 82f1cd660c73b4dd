/** One minute of 60 seconds, in milliseconds. */
export const MINUTE_MS = 60_000

/** One hour of 60 minutes, in milliseconds. */
export const HOUR_MS = 60 * MINUTE_MS

/** One day of 24 hours, in milliseconds; a calendar day may be shorter or longer. */
export const DAY_MS = 24 * HOUR_MS

/** The longest year, in milliseconds. */
export const YEAR_MS = 366 * DAY_MS

/** A moment: milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number

/** The name of an IANA time zone, such as `America/New_York`. */
export type Zone = string

/**
 * A calendar date without time or zone, `YYYY-MM-DD`. The type holds the form, so that the compiler refuses
 * instants and unchecked text: literals pass as they are, and text from outside passes through `isRealDate` first.
 */
export type PlainDate = `${number}-${number}-${number}`
