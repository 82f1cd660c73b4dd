/** What the page's script knows while the page is open; in the frame the session exists nowhere else. */
export const session: {
  /** The session's handle, in the frame only; it is kept in memory and nowhere else. */
  handle: string | undefined
  /** Hears of every view that is shown, and of whatever else the host may know. */
  listener: Listener | undefined
  /** False until the first view of a frame inside its host's page, which must not take the focus. */
  mayFocus: boolean
} = { handle: undefined, listener: undefined, mayFocus: true }

/** The listener for what happens in the page: the frame's script, when there is a host. */
export type Listener = {
  shown(main: HTMLElement): void
  submitted(view: string): void
  offline(): void
  /**
   * Called when the session ended during a request; resolves to true when there is a new session, so that the
   * request can be sent again.
   */
  renew(): Promise<boolean>
}
