import { html } from '../../http/html.ts'
import type { Content } from '../views/layout.ts'
import type { ViewOf } from '../views/surroundings.ts'
import { textsOf } from '../views/texts.ts'

/** The empty frame that waits for the host's port. */
export type FrameView = ViewOf<'FRAME'> & {
  /** The origins that may embed the frame. */
  readonly origins: readonly string[]
  /** The address at which the frame exchanges a link token for a session. */
  readonly sessionurl: string
}

/** The empty frame, as shown until the host has answered. */
export function drawFrame(view: FrameView): Content {
  const texts = textsOf(view.page)
  return {
    title: texts.already.title,
    body: html`<h1 class="unseen" tabindex="-1">${texts.shell.loading}</h1>
<div class="waiting" aria-hidden="true"><span></span><span></span><span></span></div>
<noscript><p>${texts.shell.noscript}</p></noscript>`,
    signals: { origins: view.origins.join(' '), session: view.sessionurl },
  }
}
