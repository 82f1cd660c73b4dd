import { type Html, html, type Slot } from '../../http/html.ts'
import { dayText, namesText, priceText } from './format.ts'
import { icon } from './icons.ts'
import type {
  BenefitLine,
  CopyLink,
  Cost,
  Coverage,
  DocumentLink,
  HeldBenefit,
  HowToUseWords,
  IsoDate,
  SwapPair,
} from './parts.ts'
import { priceLines, totalLines, waitingPrice } from './price.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** Insurer, waiting period and documents of one benefit; empty when there are none. */
export function coverageFacts(page: Page, coverage: Coverage | undefined): Slot {
  const { insurer, waiting, documents = [] } = coverage ?? {}
  const words = textsOf(page).coverage
  if (!insurer && !waiting && documents.length === 0) return null
  return html`<dl class="known">${
    insurer &&
    html`<div><dt>${words.insurer}</dt><dd>${insurer.name}<p class="hint">${insurer.licence}</p></dd></div>`
  }
${
  waiting &&
  html`<div><dt>${words.waiting}</dt><dd>${words.days(waiting.days)}${
    waiting.text && html`<p class="hint">${waiting.text}</p>`
  }</dd></div>`
}
${
  documents.length > 0 &&
  html`<div><dt>${words.documents}</dt><dd><ul class="documents">${documents.map(
    document => html`<li>${documentLink(page, document)}</li>`,
  )}</ul></dd></div>`
}</dl>`
}

/**
 * What a person must know about these benefits before agreeing: one block for each insurer with the benefits that it
 * covers, then what is to be read or waited for.
 */
export function coverageSection(page: Page, lines: readonly BenefitLine[]): Slot {
  const known = lines.filter(({ coverage }) => coverageFacts(page, coverage))
  if (known.length === 0) return null
  const words = textsOf(page).coverage
  const keyOf = ({ coverage }: BenefitLine) =>
    `${coverage?.insurer?.name ?? ''}\n${coverage?.insurer?.licence ?? ''}`
  const groups = new Map<string, readonly BenefitLine[]>()
  for (const line of known) groups.set(keyOf(line), [...(groups.get(keyOf(line)) ?? []), line])
  const blocks = [...groups.values()].map(covered => {
    const insurer = covered[0]?.coverage?.insurer
    const names = namesText(
      page,
      covered.map(({ displayname }) => displayname),
    )
    const waits = covered.flatMap(({ displayname, coverage }) =>
      coverage?.waiting ? [{ displayname, ...coverage.waiting }] : [],
    )
    const documents = new Map(
      covered.flatMap(({ coverage }) => (coverage?.documents ?? []).map(one => [one.address, one] as const)),
    )
    const licence = insurer && html`<p class="hint">${insurer.licence}</p>`
    return html`<div class="insured"><h3>${insurer ? insurer.name : names}</h3>
${insurer && html`<p>${words.covers(names)}</p>`}
${waits.map(
  wait =>
    html`<p class="withsign">${icon('clock')}<span>${words.waitsfor(
      wait.displayname,
      words.days(wait.days),
    )}${wait.text && html`<span class="hint">${wait.text}</span>`}</span></p>`,
)}
${
  documents.size === 0
    ? licence
    : html`<details><summary>${words.documents}<span class="unseen">: ${names}</span></summary>${licence}<ul
class="documents">${[...documents.values()].map(
        document => html`<li>${documentLink(page, document)}</li>`,
      )}</ul></details>`
}</div>`
  })
  return html`<section class="know"><h2>${words.know}</h2>${blocks}</section>`
}

/** What these benefits cost together, and who collects it; one word when all are free. */
export function priceSection(page: Page, lines: readonly BenefitLine[], isAddition = false): Slot {
  const costs = costsOf(lines)
  if (costs.length === 0) return null
  const words = textsOf(page).coverage.price
  const sentences = [...priceLines(page, costs), ...waitingPrice(page, lines)]
  return pricePanel(isAddition ? words.added : words.total, sentences)
}

/** What a person with these benefits pays in all; empty when no price is known. */
export function totalSection(page: Page, lines: readonly BenefitLine[]): Slot {
  if (costsOf(lines).length === 0) return null
  return pricePanel(textsOf(page).coverage.price.total, totalLines(page, lines))
}

/** The same in plain sentences; empty when nothing costs anything. */
export function totalFacts(page: Page, lines: readonly BenefitLine[]): Slot {
  const isPriced = costsOf(lines).some(({ kind }) => kind === 'amount')
  return isPriced && totalLines(page, lines).map(line => html`<p>${line}</p>`)
}

/**
 * What the new benefits of a swap cost, and what the person no longer pays from that day on. If no benefit is given up,
 * the swap is shown as an addition.
 */
export function exchangeSection(page: Page, pairs: readonly SwapPair[], effectiveon: IsoDate): Slot {
  const words = textsOf(page).coverage.price
  const coming = pairs.flatMap(pair => pair.in ?? [])
  if (!pairs.some(({ out }) => out)) return priceSection(page, coming, true)
  const over = pairs.flatMap(({ out }) => {
    if (out?.cost?.kind !== 'amount' || out.cost.per === 'once') return []
    const price = priceText(page, out.cost)
    return [words.nolonger(dayText(page, effectiveon), price, out.displayname)]
  })
  return pricePanel(words.incoming(coming.length), [...priceLines(page, costsOf(coming)), ...over])
}

function pricePanel(title: string, lines: readonly string[]): Html {
  return html`<section class="panel price"><h2>${title}</h2>${lines.map(line => html`<p>${line}</p>`)}</section>`
}

/** The link to a copy of the agreement: a file to keep, which the frame can offer too. */
export function copyLink(page: Page, copy: { readonly address: string; readonly text: string }): Html {
  const name = `benefits-${copy.address.slice(copy.address.lastIndexOf('/') + 1)}.html`
  return page.shell === 'frame'
    ? html`<a href="${copy.address}" data-plain data-copy="${name}">${copy.text}</a>`
    : html`<a href="${copy.address}" data-plain download="${name}">${copy.text}</a>`
}

/** The copies of a person's agreements; empty when there are none. */
export function copyList(page: Page, copies: readonly CopyLink[] = []): Slot {
  if (copies.length === 0) return null
  const words = textsOf(page).coverage.copy
  return html`<section><h2>${words.list}</h2><ul class="documents">${copies.map(
    copy =>
      html`<li>${copyLink(page, {
        address: copy.address,
        text: words.of(words.about[copy.about], dayText(page, copy.on), copy.reference),
      })}</li>`,
  )}</ul></section>`
}

/** The costs of lines, as far as they are known. */
function costsOf(lines: readonly BenefitLine[]): readonly Cost[] {
  return lines.flatMap(({ cost }) => (cost ? [cost] : []))
}

function documentLink(page: Page, document: DocumentLink): Html {
  const words = textsOf(page).coverage
  const isOther = document.language !== page.locale
  const kind = isOther ? words.pdfin[document.language] : words.pdf
  return html`<a href="${document.address}" target="_blank" rel="noopener"
hreflang="${document.language}">${document.title} ${kind}</a>`
}

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
  return html`<details id="held-${benefit.name}"${
    benefit.isOpen && html` open`
  }><summary>${benefit.displayname}</summary>
<h3>${texts.benefits.pays}</h3><ul class="plain">${benefit.pays.map(line => html`<li>${line}</li>`)}</ul>
${memberid && html`<dl class="known"><div><dt>${texts.coverage.memberid}</dt><dd>${memberid}</dd></div></dl>`}
${coverageFacts(page, benefit.coverage)}
${
  howtouse &&
  html`<h3>${words.title}</h3>
${ended && html`<p>${words.ended(dayText(page, ended.on), dayText(page, ended.until))}</p>`}
${useWords(howtouse)}`
}</details>`
}

/** The text, and each way to reach somebody as a link. */
export function useWords({ text, phone, url, email }: HowToUseWords): Html {
  return html`<p>${text}</p><ul class="documents">${
    phone && html`<li><a href="tel:${phone.replace(/[^+\d]/g, '')}">${phone}</a></li>`
  }${
    url && html`<li><a href="${url}" rel="noopener">${url}</a></li>`
  }${email && html`<li><a href="mailto:${email}">${email}</a></li>`}</ul>`
}
