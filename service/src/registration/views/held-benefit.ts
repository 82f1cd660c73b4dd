import { type Html, html, type Slot } from '../../http/html.ts'
import { coverageFacts } from './coverage.ts'
import type { HeldBenefit, HowToUseWords } from './coverage-parts.ts'
import { dayText } from './format.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** Each benefit of a member, to open: what it pays, its insurer and documents, and how it is used; empty without benefits. */
export function heldBenefits(page: Page, held: readonly HeldBenefit[] = []): Slot {
  if (held.length === 0) return null
  const words = textsOf(page).coverage.use
  const heading = held.every(({ ended }) => ended) ? words.had : words.heading
  return html`<section><h2>${heading}</h2>
${held.map(benefit => heldBenefit(page, benefit))}</section>`
}

function heldBenefit(page: Page, benefit: HeldBenefit): Html {
  const texts = textsOf(page)
  const words = texts.coverage.use
  const { howtouse, ended, memberid } = benefit
  return html`<details id="held-${benefit.name}"${benefit.isOpen && html` open`}><summary>${benefit.displayname}</summary>
<h3>${texts.benefits.pays}</h3><ul class="plain">${benefit.pays.map(line => html`<li>${line}</li>`)}</ul>
${memberid && html`<dl class="known"><div><dt>${texts.coverage.memberid}</dt><dd>${memberid}</dd></div></dl>`}
${coverageFacts(page, benefit.coverage)}
${howtouse && html`<h3>${words.title}</h3>${ended && html`<p>${words.ended(dayText(page, ended.on), dayText(page, ended.until))}</p>`}${useWords(howtouse)}`}</details>`
}

/** The text, and each way to reach somebody as a link. */
export function useWords({ text, phone, url, email }: HowToUseWords): Html {
  return html`<p>${text}</p><ul class="plain">${phone && html`<li><a href="tel:${phone.replace(/[^+\d]/g, '')}">${phone}</a></li>`}${url && html`<li><a href="${url}" rel="noopener">${url}</a></li>`}${email && html`<li><a href="mailto:${email}">${email}</a></li>`}</ul>`
}
