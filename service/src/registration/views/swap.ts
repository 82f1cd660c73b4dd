import { type Html, html, type Slot } from '../../http/html.ts'
import type { InputName } from './faults.ts'
import {
  type Answers,
  consentFields,
  draftField,
  errorSummary,
  fault,
  form,
  inputId,
  primary,
  radio,
} from './fields.ts'
import { dayText, instantText } from './format.ts'
import { icon } from './icons.ts'
import { type Content, notice } from './layout.ts'
import { benefitLine, costLine } from './lists.ts'
import type { SwapConfirmView, SwapView } from './model.ts'
import type { BenefitCard, SwapPair } from './parts.ts'
import type { Page } from './surroundings.ts'
import type { Texts } from './texts.ts'

/** What may be exchanged for what: a question for each benefit held and for each free place. */
export function swap(view: SwapView, texts: Texts): Content {
  const { page, held, available, freeslots, effectiveon, pending, locked } = view
  const words = texts.swap
  const on = dayText(page.locale, effectiveon)
  const answers = { page, texts, errors: view.errors ?? [], kept: view.chosen }
  const choosable = available.length > 0 && !locked
  const free = Array.from({ length: choosable ? freeslots : 0 }, (_, at) => `free${at + 1}`)
  return {
    title: words.title,
    asks: choosable,
    faulty: answers.errors.length > 0,
    back: `${page.root}/overview`,
    body: html`${errorSummary(answers)}
<h1 tabindex="-1">${words.title}</h1>
<p class="lead">${words.lead(on)} ${words.gap}</p>
${locked ? notice(words.locked, words.lockedtext(on)) : html`<p class="withsign">${icon('clock')}${words.until(instantText(page, view.lockedat))}</p>`}
${pending.length > 0 && pendingSwap(view, texts, on)}
${!locked && available.length === 0 && html`<p>${words.nothing}</p>`}
${
  choosable &&
  form(answers, 'swap', [
    held.map(card => question(answers, card.name, words.replace(card.displayname), available, held)),
    free.map(name => question(answers, name, words.free, available, held)),
    primary(texts.shell.continue),
  ])
}`,
  }
}

/** The chosen swap side by side, with the day and until when it can be undone. */
export function swapConfirm(view: SwapConfirmView, texts: Texts): Content {
  const { page, pairs, effectiveon, lockedat, consents } = view
  const words = texts.swap
  const answers = { page, texts, errors: view.errors ?? [], kept: {} }
  return {
    title: words.confirmtitle,
    asks: true,
    faulty: answers.errors.length > 0,
    back: `${page.root}/swap`,
    body: html`${errorSummary(answers)}
<h1 tabindex="-1">${words.confirmtitle}</h1>
${pairList(page, texts, pairs, dayText(page.locale, effectiveon))}
<p>${words.gap}</p>
<p class="withsign">${icon('clock')}${words.until(instantText(page, lockedat))}</p>
${form(answers, 'swap/confirm', [
  placesOf(pairs).map(([place, name]) => html`<input type="hidden" name="replace.${place}" value="${name}">`),
  consentFields(answers, consents),
  primary(words.button),
])}`,
  }
}

/** Each pair by its place: the benefit that goes, or one of the free places in their own order. */
function placesOf(pairs: readonly SwapPair[]): readonly (readonly [place: string, name: string])[] {
  let free = 0
  return pairs.map(pair => {
    if (!pair.out) free += 1
    return [pair.out?.name ?? `free${free}`, pair.in.name]
  })
}

function pendingSwap(view: SwapView, texts: Texts, on: string): Html {
  const { page, pending, locked } = view
  const words = texts.swap
  return html`<section class="panel"><h2>${words.pending}</h2>
${pairList(page, texts, pending, on)}
<p>${words.pendingtext(on)}</p>
${!locked && html`<form method="post" action="${page.root}/swap/undo">${draftField(page)}<p><button class="secondary">${words.undo}</button></p></form>`}</section>`
}

function pairList(page: Page, texts: Texts, pairs: readonly SwapPair[], on: string): Html {
  const words = texts.swap
  return html`<ul class="pairs">${pairs.map(
    pair =>
      html`<li><div class="side out"><p class="when">${words.now}</p>${
        pair.out
          ? html`<div class="line">${benefitLine(page, texts, pair.out)}</div>`
          : html`<p class="hint">${words.freeslot}</p>`
      }</div><span class="between">${icon('arrow')}</span><div class="side in"><p class="when">${words.from(on)}</p><div class="line">${benefitLine(page, texts, pair.in)}</div></div></li>`,
  )}</ul>`
}

/** One question: keep the benefit, or have one of the others in its place. */
function question(
  answers: Answers,
  slot: string,
  asked: string,
  available: readonly BenefitCard[],
  held: readonly BenefitCard[],
): Html {
  const { texts, errors, kept } = answers
  const words = texts.swap
  const input: InputName = `replace.${slot}`
  const error = errors.find(found => found.input === input)
  const own = held.find(card => card.name === slot)
  const stay = own ? words.keep(own.displayname) : words.addnone
  const chosen = kept[slot] ?? ''
  const id = inputId(input)
  return html`<fieldset class="field question${error && ' wrong'}"${error && html` aria-describedby="${id}-error"`}>
<legend class="withicon">${own && html`<img src="${own.iconurl}" alt="" width="40" height="40">`}<h2>${asked}</h2></legend>
${!own && html`<p class="hint">${words.freehint}</p>`}
${error && fault(id, texts, error)}
${radio(input, '', { id, label: stay, checked: chosen === '' })}
${available.map(card =>
  radio(input, card.name, {
    id: inputId(`${input}-${card.name}`),
    label: choiceLabel(answers, own ? words.by(card.displayname) : words.add(card.displayname), card),
    checked: chosen === card.name,
  }),
)}
</fieldset>`
}

function choiceLabel(answers: Answers, label: string, card: BenefitCard): Slot {
  const { texts, page } = answers
  return html`${label}<span class="hint">${card.description} ${costLine(page, texts, card.cost)}.</span>`
}
