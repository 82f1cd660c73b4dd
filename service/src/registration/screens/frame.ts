import { html } from '../../http/html.ts'
import type { Content } from '../views/layout.ts'
import { sayIn } from '../views/say.ts'
import type { ViewOf } from '../views/surroundings.ts'

/** The empty frame that waits for the host's port. */
export type FrameView = ViewOf<'FRAME'> & {
  /** The origins that may embed the frame. */
  readonly origins: readonly string[]
  /** The address at which the frame exchanges a link token for a session. */
  readonly sessionurl: string
}

/** The empty frame, as shown until the host has answered. */
export function drawFrame(view: FrameView): Content {
  const say = sayIn(view.page)

  return {
    title: say`Your benefits`,
    body: html`<h1 class="unseen" tabindex="-1">${say`Loading…`}</h1>
<div class="waiting" aria-hidden="true"><span></span><span></span><span></span></div>
<noscript><p>${say`This window needs JavaScript. Ask for a link to open the page on its own instead.`}</p></noscript>`,
    signals: { origins: view.origins.join(' '), session: view.sessionurl },
  }
}
