import { type Html, html, type Slot } from '../../http/html.ts'
import { namingSection } from './beneficiaries.ts'
import { worthText } from './benefits.ts'
import { consentFields } from './consent-fields.ts'
import { coverageSection, exchangeSection } from './coverage.ts'
import { draftField, form, oneOf, primary, question } from './fields.ts'
import { dayText, deadlineText } from './format.ts'
import { icon } from './icons.ts'
import { type Content, notice } from './layout.ts'
import { benefitLine, costLine } from './lists.ts'
import type { SwapChooseView, SwapConfirmView, SwapView } from './model.ts'
import type { BenefitCard, SwapPair } from './parts.ts'
import { leavingNotice } from './standing.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** The first choice: which benefit to give up, or a free slot to fill. */
export function swap(view: SwapView): Content {
  const { page, held, hasfreeslot, effectiveon, pending, wanted, leaving } = view
  const texts = textsOf(page)
  const locked = view.locked && leaving === undefined
  const words = texts.swap
  const on = dayText(page, effectiveon)
  const isOpen = view.choosable && !locked && leaving === undefined && (held.length > 0 || hasfreeslot)
  return question(view, {
    title: words.title,
    asks: isOpen,
    back: 'overview',
    body: html`${leaving !== undefined && leavingNotice(page, leaving, 'swap')}
${!locked && (isOpen || pending.length > 0) && html`<p class="lead">${words.lead(on)} ${words.gap}</p>`}
${locked && notice(words.locked, words.lockedtext(on))}
${
  !locked &&
  (isOpen || pending.length > 0) &&
  html`<p class="withsign">${icon('clock')}${words.until(deadlineText(page, view.lockedat))}</p>`
}
${pending.length > 0 && pendingSwap(view, on)}
${!locked && !isOpen && leaving === undefined && html`<p>${words.nothing}</p>`}
${
  isOpen &&
  form(view, 'swap', [
    wanted && html`<input type="hidden" name="in" value="${wanted.name}">`,
    slotChoice(view),
    primary(texts.shell.continue),
  ])
}`,
  })
}

/** The second choice: the new benefit, with the one to give up beside it. */
export function swapChoose(view: SwapChooseView): Content {
  const { page, out, available, chosen, effectiveon } = view
  const texts = textsOf(page)
  const words = texts.swap
  const on = dayText(page, effectiveon)
  const title = out ? words.choose(out.displayname) : words.choosefree
  const choices = oneOf(view, 'in', {
    legend: html`<legend><h2>${words.from(on)}</h2></legend>`,
    chosen,
    choices: available.map(card => ({
      value: card.name,
      label: choiceLabel(page, card),
      more: coverage(page, card),
    })),
  })
  return question(view, {
    title,
    wide: true,
    back: 'swap',
    body: html`<p class="lead">${out ? words.gap : words.freehint}</p>
${form(view, 'swap/choose', [
  html`<input type="hidden" name="out" value="${out?.name ?? 'free'}">`,
  out
    ? html`<div class="exchange"><section class="goes"><h2>${words.now}</h2><article class="card"><div class="top"><img src="${out.iconurl}" alt="" width="48" height="48"><div><h3>${out.displayname}</h3></div></div>
<p>${out.description}</p>${facts(page, out)}${coverage(page, out)}</article></section>${choices}</div>`
    : choices,
  primary(texts.shell.continue),
])}`,
  })
}

/** The chosen swap side by side, with its day and until when it can be undone. */
export function swapConfirm(view: SwapConfirmView): Content {
  const { page, pairs, effectiveon, lockedat, consents } = view
  const coming = pairs.flatMap(pair => pair.in ?? [])
  const words = textsOf(page).swap
  return question(view, {
    title: words.confirmtitle,
    back: 'swap',
    body: html`${pairList(page, pairs, dayText(page, effectiveon))}
${pairs.some(({ out }) => out) && html`<p>${words.gap}</p>`}
<p class="withsign">${icon('clock')}${words.until(deadlineText(page, lockedat))}</p>
${exchangeSection(page, pairs, effectiveon)}
${coverageSection(page, coming)}
${namingSection(page, view.naming)}
${form(view, 'swap/confirm', [
  slotsOf(pairs).map(([slot, name]) => html`<input type="hidden" name="replace.${slot}" value="${name}">`),
  consentFields(view, consents),
  primary(words.button),
])}`,
  })
}

/** What each new benefit replaces or fills: the name of the benefit to give up, or a number for each free slot. */
function slotsOf(pairs: readonly SwapPair[]): readonly (readonly [slot: string, name: string])[] {
  let free = 0
  return pairs.map(pair => {
    if (!pair.out) free += 1
    return [pair.out?.name ?? `free${free}`, pair.in?.name ?? '']
  })
}

function pendingSwap(view: SwapView, on: string): Html {
  const { page, pending, locked } = view
  const { swap: words, standing } = textsOf(page)
  const isOff = (pair: SwapPair) => pair.iscalledoff
  return html`<section class="panel"><h2>${words.pending}</h2>
${pairList(page, pending, on)}
${
  pending.every(isOff)
    ? html`<p>${standing.planned.noswap(on)}</p>`
    : html`<p>${words.pendingtext(on)}</p>${pending.some(isOff) && html`<p>${standing.planned.partly}</p>`}`
}
${
  !locked &&
  html`<form method="post" action="${page.root}/swap/undo">${draftField(page)}<p><button class="secondary">${words.undo}</button></p></form>`
}</section>`
}

function pairList(page: Page, pairs: readonly SwapPair[], on: string): Html {
  const words = textsOf(page).swap
  return html`<ul class="pairs">${pairs.map(
    pair =>
      html`<li><div class="side out"><p class="when">${words.now}</p>${
        pair.out
          ? html`<div class="line">${benefitLine(page, pair.out)}</div>`
          : html`<p class="hint">${words.freeslot}</p>`
      }</div><span class="between">${icon('arrow')}</span><div class="side in"><p class="when">${words.from(on)}</p>${
        pair.in
          ? html`<div class="line">${benefitLine(page, pair.in)}</div>`
          : html`<p class="hint">${words.freeslot}</p>`
      }</div></li>`,
  )}</ul>`
}

/** One question: which benefit to give up. */
function slotChoice(view: SwapView): Html {
  const { page } = view
  const words = textsOf(page).swap
  return oneOf(view, 'out', {
    legend: html`<legend><h2>${view.wanted ? words.goesfor(view.wanted.displayname) : words.goes}</h2></legend>`,
    chosen: view.chosen,
    choices: [
      ...view.held.map(card => ({ value: card.name, label: choiceLabel(page, card) })),
      ...(view.hasfreeslot
        ? [
            {
              value: 'free',
              label: html`<strong>${words.free}</strong><span class="hint">${words.freehint}</span>`,
            },
          ]
        : []),
    ],
  })
}

function choiceLabel(page: Page, card: BenefitCard): Slot {
  return html`<span class="withicon"><img src="${card.iconurl}" alt="" width="40" height="40"><strong>${card.displayname}</strong></span><span class="hint">${card.description}</span>${facts(page, card)}`
}

/** What it pays and what it costs, in one line. */
function facts(page: Page, card: BenefitCard): Html {
  const worth = card.worth && worthText(page, card.worth)
  return html`<span class="hint">${[worth, costLine(page, card.cost)].filter(fact => fact).join('. ')}.</span>`
}

/** What is covered and what is not, in a part that opens. */
function coverage(page: Page, card: BenefitCard): Slot {
  const words = textsOf(page).benefits
  if (card.pays.length === 0) return null
  return html`<details><summary>${words.pays}<span class="unseen">: ${card.displayname}</span></summary>
<ul class="ticks">${card.pays.map(line => html`<li>${icon('check')}${line}</li>`)}</ul>
${
  card.notcovered.length > 0 &&
  html`<p class="label">${words.notcovered}</p><ul class="ticks not">${card.notcovered.map(
    line => html`<li>${icon('no')}${line}</li>`,
  )}</ul>`
}</details>`
}
