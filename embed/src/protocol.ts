import type { Appearance, ErrorCode, EventContent, Outcome } from './events.ts'

/** The version of the messages between host and frame. */
export const protocol = 1

/** The frame's first message. It holds the protocol's version and nothing else, because any page may receive it. */
export const hello = `benefit-enrolment/${protocol} hello`

/** The host's answer to that origin, with a port; every later message goes through the port. */
export const portGiven = `benefit-enrolment/${protocol} port`

/** Messages through the port from host to frame. */
export type ToFrame =
  | {
      readonly say: 'start'
      readonly token: string
      readonly locale?: string | undefined
      readonly appearance?: Appearance | undefined
      /** True when the frame may take the focus, as it may in a dialog. */
      readonly focus: boolean
    }
  | { readonly say: 'token'; readonly token: string }
  /** `again`: the host could not fetch a token now, and may be asked once more. */
  | { readonly say: 'notoken'; readonly again?: boolean }
  | {
      readonly say: 'update'
      readonly locale?: string | undefined
      readonly appearance?: Appearance | undefined
    }

/** Messages through the port from frame to host. */
export type ToHost =
  | { readonly say: 'event'; readonly event: EventContent }
  /** A session began; the token can be exchanged for its outcome, whatever that will be. */
  | { readonly say: 'session'; readonly resulttoken: string }
  | { readonly say: 'error'; readonly code: ErrorCode }
  | {
      readonly say: 'done'
      readonly outcome: Outcome
      readonly resulttoken: string
      readonly sessionid: string
    }
  | { readonly say: 'needtoken' }
  | { readonly say: 'height'; readonly height: number }
  | { readonly say: 'exit' }
