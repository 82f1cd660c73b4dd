import type { Language } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import { languageAsked } from '../../http/locale.ts'
import type { Partner } from '../../partners/partner.ts'
import type { Exchange } from '../session/page-context.ts'
import { type OwnSession, wayBack } from '../session/session.ts'
import { pageFor } from '../session/visit.ts'
import { emblem } from '../views/icons.ts'
import type { View } from '../views/layout.ts'
import { leave } from '../views/lists.ts'
import { type Say, sayIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'

/** How a link or a session may have ended. */
export const endedKinds = ['link', 'session', 'closed', 'challenge', 'challengelimit', 'signedout'] as const

/**
 * The link or the session has ended; the words are the same for a used, expired or unknown link. `session`: inactive
 * for too long; `closed`: revoked, or never open in this browser; `challenge`: too many wrong birth dates for this
 * link; `challengelimit`: too many for all links of the person, so that a new one does not help; `signedout`: the
 * person asked for it.
 */
export type Ending = (typeof endedKinds)[number]

/**
 * The page of a link or session that has ended or never existed; for links the words are always the same. Its language is
 * the given one, else that of the session, else the browser's.
 */
export async function endedView(
  exchange: Exchange,
  ended: {
    readonly kind: Ending
    readonly shell: Page['shell']
    readonly own?: OwnSession | undefined
    readonly locale?: Language | undefined
    /** Of a link that has no session any more, or never had one. */
    readonly partner?: Partner | undefined
  },
): Promise<View> {
  const { shell, kind, own } = ended
  const { headers } = exchange.reply.request
  const locale =
    ended.locale ??
    own?.session.locale ??
    languageAsked(headers['accept-language'], exchange.context.languages) ??
    'en'
  const page = pageFor(exchange.context, await exchange.files(), {
    shell,
    locale,
    partner: own?.partner ?? ended.partner,
  })
  return endedOn(page, kind, own && wayBack(own))
}

/** The link or session has ended: a link's words are the same whether it was used, expired or unknown. */
export function endedOn(page: Page, kind: Ending, redirecturl?: string): View {
  const say = sayIn(page)
  const isChallenge = kind === 'challenge' || kind === 'challengelimit'
  const [title, text] = endings[kind === 'challengelimit' ? 'challenge' : kind](say)
  const partner = page.partner.displayname
  // Without a cookie nothing tells a browser that blocks them from one that never opened a link.
  const isUnknown = kind === 'closed' && page.shell === 'hosted' && partner === ''
  const isRenewable = page.shell === 'frame' && kind !== 'link'
  const content = {
    title,
    kind,
    signals: { ended: kind === 'link' ? 'link' : 'session' },
    body: html`${emblem(isChallenge ? 'alert' : kind === 'signedout' ? 'check' : 'clock')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${text}</p>
${kind === 'link' && html`<p>${say`If you saved answers here before, they are kept.`}</p>`}
${(kind === 'session' || kind === 'signedout') && html`<p>${say`Answers you already saved are kept.`}</p>`}
<section class="panel"><h2>${say`What to do now`}</h2>${
      isChallenge
        ? html`<p>${
            kind === 'challenge'
              ? say`Open your benefits in ${partner}’s app or on its website, or ask ${partner} to send you a new link.`
              : say`Links sent by text message or email will not open for up to 30 days. Use ${partner}’s app or website.`
          }</p><p>${say`If you are sure of your date of birth, tell ${partner}: what it sent us may be wrong.`}</p>`
        : html`<p>${partner ? say`Go back to ${partner} and open your benefits again.` : say`Go back to where you got the link and open your benefits again.`}</p><p>${
            partner
              ? say`If your link came by text message or email, ask ${partner} to send you a new one.`
              : say`If your link came by text message or email, ask the company that sent it for a new one.`
          }</p>${isUnknown && html`<p>${say`If you see this right after you opened your link, your browser blocks cookies. Allow them for this site, or use another browser, and open your benefits again.`}</p>`}`
    }</section>
${leave(page, {
  redirecturl,
  more:
    isRenewable &&
    html`<button type="button" class="secondary" data-renew>${say`Continue where you left off`}</button>`,
})}`,
  }
  return { view: 'LINK_ENDED', page, content }
}

const endings: Readonly<
  Record<Exclude<Ending, 'challengelimit'>, (say: Say) => readonly [title: string, text: string]>
> = {
  link: say => [
    say`This link does not work anymore`,
    say`For your safety, a link works once and only for a short time.`,
  ],
  session: say => [say`You were away for a while`, say`To keep your information safe, we closed this page.`],
  closed: say => [
    say`This page is closed`,
    say`To see your benefits, you need a link made for you that has not expired.`,
  ],
  challenge: say => [
    say`We could not confirm that it is you`,
    say`The date of birth did not match our records too many times. To keep your information safe, we closed this link.`,
  ],
  signedout: say => [say`You are signed out`, say`Your information is no longer open on this page.`],
}
