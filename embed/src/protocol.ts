import type { Appearance, ErrorCode, EventContent, Outcome } from './events.ts'

/** The version of what host and frame say to each other. */
export const protocol = 1

/** What the frame calls out first: its protocol and nothing else, since anyone may hear it. */
export const hello = `benefit-enrolment/${protocol} hello`

/** What the host answers to that exact origin, with a port; everything else goes through the port. */
export const portGiven = `benefit-enrolment/${protocol} port`

/** Through the port, host to frame. */
export type ToFrame =
  | {
      readonly say: 'start'
      readonly token: string
      readonly locale?: string | undefined
      readonly appearance?: Appearance | undefined
      /** True when the frame may take the focus, as in a dialog. */
      readonly focus: boolean
    }
  | { readonly say: 'token'; readonly token: string }
  | { readonly say: 'notoken' }
  | {
      readonly say: 'update'
      readonly locale?: string | undefined
      readonly appearance?: Appearance | undefined
    }

/** Through the port, frame to host. */
export type ToHost =
  | { readonly say: 'event'; readonly event: EventContent }
  /** A session began: what its outcome can be asked with, whatever that will be. */
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
