/** What the page's script knows while the page is open; in the frame it is all there is of a session. */
export const session: {
  /** The session's handle, in the frame alone: it lives in this memory and nowhere else. */
  handle: string | undefined
  /** Told of every view that is shown, and of what else the host may hear. */
  listener: Listener | undefined
  /** False until the first view of a frame that stands in its host's page: it must not take the focus. */
  mayFocus: boolean
} = { handle: undefined, listener: undefined, mayFocus: true }

/** Who listens to the page: the frame's part, when there is a host. */
export interface Listener {
  shown(main: HTMLElement): void
  submitted(view: string): void
  offline(): void
  /** The session ended under a request: resolves to true when there is a new one, so that it may be sent again. */
  renew(): Promise<boolean>
}
