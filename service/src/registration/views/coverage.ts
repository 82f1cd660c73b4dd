import { type Html, html, type Slot } from '../../http/html.ts'
import { dayText, namesText, priceLines, priceText, totalLines, waitingPrice } from './format.ts'
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
import { later, sayIn } from './say.ts'
import type { Localized, Page } from './surroundings.ts'

/** Insurer, waiting period and documents of one benefit; empty when there are none. */
export function coverageFacts(page: Page, coverage: Coverage | undefined): Slot {
  const { insurer, waiting, documents = [] } = coverage ?? {}
  const say = sayIn(page)

  if (!insurer && !waiting && documents.length === 0) return null
  return html`<dl class="known">${
    insurer &&
    html`<div><dt>${insurerLabel(page, insurer)}</dt><dd>${insurer.name}<p class="hint">${insurer.licence}</p></dd></div>`
  }
${
  waiting &&
  html`<div><dt>${say`Waiting period`}</dt><dd>${waiting.days === 1 ? say`1 day` : say`${waiting.days} days`}${
    waiting.text && html`<p class="hint">${waiting.text}</p>`
  }</dd></div>`
}
${
  documents.length > 0 &&
  html`<div><dt>${say`Documents`}</dt><dd><ul class="documents">${documents.map(
    document => html`<li>${documentLink(page, document)}</li>`,
  )}</ul></dd></div>`
}</dl>`
}

/** What the company behind a benefit is to the person: a discount has no insurer. */
export function insurerLabel(page: Localized, { isdiscount }: NonNullable<Coverage['insurer']>): string {
  const say = sayIn(page)
  return isdiscount ? say`Offered by` : say`Insurer`
}

/**
 * What a person must know about these benefits before agreeing: one block for each insurer with the benefits that it
 * covers, then what is to be read or waited for.
 */
export function coverageSection(page: Page, lines: readonly BenefitLine[]): Slot {
  const known = lines.filter(({ coverage }) => coverageFacts(page, coverage))
  if (known.length === 0) return null
  const say = sayIn(page)

  const keyOf = ({ coverage }: BenefitLine) =>
    html`${coverage?.insurer?.name}\n${coverage?.insurer?.licence}`.markup
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
${insurer && html`<p>${insurer.isdiscount ? say`Offers: ${names}` : say`Insures: ${names}`}</p>`}
${waits.map(
  wait =>
    html`<p class="withsign">${icon('clock')}<span>${say`${wait.displayname}: waiting period of ${wait.days === 1 ? say`1 day` : say`${wait.days} days`}`}${wait.text && html`<span class="hint">${wait.text}</span>`}</span></p>`,
)}
${
  documents.size === 0
    ? licence
    : html`<details><summary>${say`Documents`}<span class="unseen">: ${names}</span></summary>${licence}<ul
class="documents">${[...documents.values()].map(
        document => html`<li>${documentLink(page, document)}</li>`,
      )}</ul></details>`
}</div>`
  })
  return html`<section class="know"><h2>${say`What you should know`}</h2>${blocks}</section>`
}

/** What these benefits cost together, and who collects it; one word when all are free. */
export function priceSection(
  page: Page,
  lines: readonly BenefitLine[],
  { isAddition = false, isfirstfree = false }: { isAddition?: boolean; isfirstfree?: boolean } = {},
): Slot {
  const costs = costsOf(lines)
  if (costs.length === 0) return null
  const say = sayIn(page)

  const first =
    isfirstfree && costs.some(({ kind }) => kind === 'amount')
      ? [say`You pay nothing for the month in which it starts.`]
      : []
  const sentences = [...priceLines(page, costs), ...first, ...waitingPrice(page, lines)]
  return pricePanel(isAddition ? say`What you add costs` : say`Your total`, sentences)
}

/** What a person with these benefits pays in all; empty when no price is known. */
export function totalSection(page: Page, lines: readonly BenefitLine[]): Slot {
  const say = sayIn(page)
  if (costsOf(lines).length === 0) return null
  return pricePanel(say`Your total`, totalLines(page, lines))
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
  const say = sayIn(page)

  const coming = pairs.flatMap(pair => pair.in ?? [])
  if (!pairs.some(({ out }) => out)) return priceSection(page, coming, { isAddition: true })
  const over = pairs.flatMap(({ out }) => {
    if (out?.cost?.kind !== 'amount' || out.cost.per === 'once') return []
    const price = priceText(page, out.cost)
    return [say`From ${dayText(page, effectiveon)} you no longer pay ${price} for ${out.displayname}.`]
  })
  return pricePanel(coming.length === 1 ? say`What the new benefit costs` : say`What the new benefits cost`, [
    ...priceLines(page, costsOf(coming)),
    ...over,
  ])
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
  const say = sayIn(page)
  return html`<section><h2>${say`Your copies`}</h2><ul class="documents">${copies.map(
    copy =>
      html`<li>${copyLink(page, {
        address: copy.address,
        text: say`${say(copyNames[copy.about])}, ${dayText(page, copy.on)} (${copy.reference})`,
      })}</li>`,
  )}</ul></section>`
}

/** The costs of lines, as far as they are known. */
function costsOf(lines: readonly BenefitLine[]): readonly Cost[] {
  return lines.flatMap(({ cost }) => (cost ? [cost] : []))
}

function documentLink(page: Page, document: DocumentLink): Html {
  const say = sayIn(page)
  const isOther = document.language !== page.locale
  const kind = !isOther
    ? say`(PDF)`
    : document.language === 'es'
      ? say`(PDF, in Spanish)`
      : say`(PDF, in English)`
  return html`<a href="${document.address}" target="_blank" rel="noopener"
hreflang="${document.language}">${document.title} ${kind}</a>`
}

/** Each benefit of a member, to open: what it pays, its insurer and documents, and how it is used; empty without benefits. */
export function heldBenefits(page: Page, held: readonly HeldBenefit[] = []): Slot {
  if (held.length === 0) return null
  const say = sayIn(page)

  const heading = held.every(({ ended }) => ended)
    ? say`What you had, and how to use it`
    : say`What you have, and how to use it`
  return html`<section><h2>${heading}</h2>
${held.map(benefit => heldBenefit(page, benefit))}</section>`
}

function heldBenefit(page: Page, benefit: HeldBenefit): Html {
  const say = sayIn(page)

  const { howtouse, ended, memberid } = benefit
  return html`<details id="held-${benefit.name}"${
    benefit.isOpen && html` open`
  }><summary>${benefit.displayname}</summary>
<h3>${say`What is covered`}</h3><ul class="plain">${benefit.pays.map(line => html`<li>${line}</li>`)}</ul>
${memberid && html`<dl class="known"><div><dt>${say`Member number`}</dt><dd>${memberid}</dd></div></dl>`}
${coverageFacts(page, benefit.coverage)}
${
  howtouse &&
  html`<h3>${say`How to use it`}</h3>
${ended && html`<p>${say`Coverage ended on ${dayText(page, ended.on)}. This is for what happened before, until ${dayText(page, ended.until)}.`}</p>`}
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

const copyNames: Readonly<Record<CopyLink['about'], string>> = {
  enrolled: later`Enrollment`,
  swapped: later`Swap`,
  changed: later`Change of plan`,
  altered: later`Your change`,
  cancelled: later`Cancellation`,
  undone: later`Return`,
}
