import { html } from '../../http/html.ts'
import type { View } from '../views/layout.ts'
import { sayIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'

/**
 * The empty frame, as shown until the host has answered: the origins that may embed it, and the address at which it exchanges a
 * link token for a session.
 */
export function frameView(
  page: Page,
  { origins, sessionurl }: { readonly origins: readonly string[]; readonly sessionurl: string },
): View {
  const say = sayIn(page)
  const content = {
    title: say`Your benefits`,
    body: html`<h1 class="unseen" tabindex="-1">${say`Loading…`}</h1>
<div class="waiting" aria-hidden="true"><span></span><span></span><span></span></div>
<noscript><p>${say`This window needs JavaScript. Ask for a link to open the page on its own instead.`}</p></noscript>`,
    signals: { origins: origins.join(' '), session: sessionurl },
  }
  return { view: 'FRAME', page, content }
}
