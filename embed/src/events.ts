/** The version of this package, which its frame address and its events carry too. */
export const version = '1.0.0'

/** The result of a session. */
export type Outcome = 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'undone' | 'exited'

/**
 * Why something failed; each code has a text for people and one for developers.
 *
 * `LINK_TOKEN_ENDED`: the link token was used, has expired or is unknown, and so was a second one.
 * `TOKEN_FETCH_FAILED`: your `token` function threw or returned no string. `ORIGIN_NOT_ALLOWED`: this page's origin
 * is not registered for the partner, or the token does not allow it. `LOAD_TIMEOUT`: the service did not answer.
 * `VERSION_MISMATCH`: the service no longer supports this version. `CONFLICT`: answers, prices or dates changed
 * while the page was open, and the person sees the newest. `INTERNAL`: anything else.
 */
export type ErrorCode =
  | 'LINK_TOKEN_ENDED'
  | 'TOKEN_FETCH_FAILED'
  | 'ORIGIN_NOT_ALLOWED'
  | 'LOAD_TIMEOUT'
  | 'VERSION_MISMATCH'
  | 'CONFLICT'
  | 'INTERNAL'

/** The events and their content; none carries personal data. */
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

/**
 * An event of the embed (contract §11). `version` is the version of this union, `at` is ISO 8601 in UTC. `OPEN
 * READY VIEW SUBMIT ENROLLED SWAPPED EXIT ERROR SESSION_EXPIRED` are stable; the others are informative and may
 * change.
 */
export type EnrolmentEvent = EventContent & { readonly version: 1; readonly at: string }

/**
 * The argument of `onSuccess`: your server may exchange the token with `POST /user/linktoken/result` within 24
 * hours.
 */
export type Success = {
  readonly resulttoken: string
  readonly outcome: Outcome
  readonly sessionid: string
}

/**
 * The argument of `onExit`. `error` is set when an error closed the embed. `resulttoken` is set once a session has
 * begun, and your server may exchange it like that of `onSuccess`; the answer is `exited` when nothing was done.
 */
export type Exit = {
  readonly outcome: Outcome
  readonly error?: ErrorCode
  readonly resulttoken?: string
}

/** The colors that a look may set, each `#rrggbb`. */
export type ColourName = 'accent' | 'onaccent' | 'background' | 'surface' | 'text' | 'muted' | 'line'

/** A look. Accepted without effect, until 2.0: the page wears the partner's own look, which the operator sets. */
export type Appearance = {
  readonly scheme?: 'auto' | 'light' | 'dark'
  readonly light?: Readonly<Partial<Record<ColourName, string>>>
  readonly dark?: Readonly<Partial<Record<ColourName, string>>>
  /** Corner radius in CSS pixels, 0 to 24. */
  readonly radius?: number
  readonly fonts?: readonly string[]
  /** Your logo in place of your initial: `data:image/svg+xml;base64,…` (or png, webp), at most 3,000 characters. */
  readonly logo?: string
}
