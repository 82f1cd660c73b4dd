/** The version that this package, its frame address and its events carry. */
export const version = '0.1.0'

/** What a session came to. */
export type Outcome = 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'undone' | 'exited'

/**
 * Why something failed, with a text for people and one for developers.
 *
 * `LINK_TOKEN_ENDED`: used, expired or unknown, and a fresh one ended, too. `TOKEN_FETCH_FAILED`: your `token` function
 * threw or gave no string. `ORIGIN_NOT_ALLOWED`: this page's origin is not registered for the partner, or not allowed
 * by the token. `LOAD_TIMEOUT`: the service did not answer. `VERSION_MISMATCH`: the service no longer speaks this
 * version. `CONFLICT`: the answers changed in another window; the person sees the newest. `INTERNAL`: anything else.
 */
export type ErrorCode =
  | 'LINK_TOKEN_ENDED'
  | 'TOKEN_FETCH_FAILED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'LOAD_TIMEOUT'
  | 'VERSION_MISMATCH'
  | 'CONFLICT'
  | 'INTERNAL'

/** What happened, by name; no event carries personal data. */
export type EventContent =
  | { readonly name: 'OPEN' }
  | { readonly name: 'READY'; readonly sessionid: string }
  | { readonly name: 'VIEW'; readonly view: string }
  | { readonly name: 'SUBMIT'; readonly view: string }
  | { readonly name: 'ENROLLED' }
  | { readonly name: 'SWAPPED' }
  | { readonly name: 'EXIT'; readonly outcome: Outcome }
  | {
      readonly name: 'ERROR'
      readonly code: ErrorCode
      readonly message: string
      readonly developermessage: string
    }
  | { readonly name: 'SESSION_EXPIRED' }
  | { readonly name: 'CHANGED' | 'CANCELLED' | 'UNDONE' | 'OFFLINE' }
  | { readonly name: 'LANGUAGE'; readonly locale: string }
  | { readonly name: 'APPEARANCE_REFUSED'; readonly problems: readonly string[] }

/**
 * An event of the embed (contract §11). `version` is the version of this union. Stable are `OPEN READY VIEW SUBMIT
 * ENROLLED SWAPPED EXIT ERROR SESSION_EXPIRED`; the rest informs and may change. `at` is ISO 8601, UTC.
 */
export type EnrolmentEvent = EventContent & { readonly version: 1; readonly at: string }

/** What `onSuccess` gets: your server may exchange the token with `POST /user/linktoken/result` within 24 hours. */
export interface Success {
  readonly resulttoken: string
  readonly outcome: Outcome
  readonly sessionid: string
}

/**
 * What `onExit` gets when the embed has closed; `error` when that is why. `resulttoken`, once a session had begun: your
 * server may exchange it as that of `onSuccess`; the answer is `exited` where nothing was done.
 */
export interface Exit {
  readonly outcome: Outcome
  readonly error?: ErrorCode
  readonly resulttoken?: string
}

/** The colours a look may set, each `#rrggbb`. */
export type ColourName = 'accent' | 'onaccent' | 'background' | 'surface' | 'text' | 'muted' | 'line'

/** A look. The service checks contrast (text 4.5:1, controls 3:1); one that fails is refused with the pair named. */
export interface Appearance {
  readonly scheme?: 'auto' | 'light' | 'dark'
  readonly light?: Readonly<Partial<Record<ColourName, string>>>
  readonly dark?: Readonly<Partial<Record<ColourName, string>>>
  /** Corner radius in CSS pixels, 0 to 24. */
  readonly radius?: number
  readonly fonts?: readonly string[]
  /** Your mark in the place of your initial: `data:image/svg+xml;base64,…` (or png, webp), at most 3,000 characters. */
  readonly logo?: string
}
