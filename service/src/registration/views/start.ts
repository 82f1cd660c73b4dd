import { html } from '../../http/html.ts'
import { birthDate, primary, question } from './fields.ts'
import { emblem, icon } from './icons.ts'
import type { Content } from './layout.ts'
import type { ChallengeView, FrameView, OpenView } from './model.ts'
import { textsOf } from './texts.ts'

/**
 * The page behind a link. Its form posts without the script to an address of its own, because the answer is a redirect.
 */
export function open(view: OpenView): Content {
  const words = textsOf(view.page).open
  const { title, lead, text } = words.purpose[view.purpose]
  return {
    title,
    body: html`${emblem('shield')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead(view.page.partner.displayname)}</p>
<p>${text}</p>
<form id="answers" method="post" action="${view.action}" data-plain><input type="hidden" name="locale" value="${view.page.locale}">${primary(
      words.button,
      icon('arrow'),
    )}</form>
<p class="hint">${words.once(view.page.partner.displayname)}</p>`,
    asks: true,
  }
}

/** Asks the birth date of a person whose link came by text message or email. */
export function challenge(view: ChallengeView): Content {
  const texts = textsOf(view.page)
  const words = texts.challenge
  return question(view, {
    title: words.title,
    body: html`<p class="lead">${
      view.again
        ? texts.beneficiaries.again
        : [view.firstname && `${words.lead(view.firstname)} `, words.text]
    }</p>
<form id="answers" method="post" action="${view.action}" novalidate>
${view.next !== undefined && html`<input type="hidden" name="next" value="${view.next}">`}
${birthDate(view, { asHeading: false })}
${view.attemptsleft !== undefined && html`<p class="hint">${words.attempts(view.attemptsleft)}</p>`}
${primary(texts.shell.continue)}
</form>`,
  })
}

/** The empty frame, as shown until the host has answered. */
export function frame(view: FrameView): Content {
  const texts = textsOf(view.page)
  return {
    title: texts.already.title,
    body: html`<h1 class="unseen" tabindex="-1">${texts.shell.loading}</h1>
<div class="waiting" aria-hidden="true"><span></span><span></span><span></span></div>
<noscript><p>${texts.shell.noscript}</p></noscript>`,
    signals: { origins: view.origins.join(' '), session: view.sessionurl },
  }
}
