import { html, type Slot } from '../../http/html.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/**
 * The links to the partner's privacy notice and terms, and the line that names the operator; empty when there are none.
 */
export function legalFacts(page: Page): Slot {
  const { privacyurl, termsurl, operatorline } = page.legal ?? {}
  const words = textsOf(page.locale).coverage
  const link = (address: string, text: string) =>
    html`<li><a href="${address}" target="_blank" rel="noopener noreferrer">${text}</a></li>`
  if (!privacyurl && !termsurl && !operatorline) return null
  return html`${
    (privacyurl || termsurl) &&
    html`<ul class="legal">${privacyurl && link(privacyurl, words.privacynotice)}${termsurl && link(termsurl, words.terms)}</ul>`
  }${operatorline && html`<p class="hint">${operatorline[page.locale]}</p>`}`
}
