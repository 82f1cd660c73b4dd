import { html, type Slot } from '../../../http/html.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { localDay } from '../../steps/cards.ts'
import { parseOneOf } from '../../steps/posted.ts'
import type { Step } from '../../steps/step.ts'
import { availableFor, pairsThatHold, swapOptionsOf } from '../../steps/swap-options.ts'
import { type Asking, isFaulty, type Parsed } from '../../views/faults.ts'
import { form, oneOf, primary, question } from '../../views/fields.ts'
import { dayText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import type { Content } from '../../views/layout.ts'
import type { BenefitCard, IsoDate } from '../../views/parts.ts'
import type { Page, ViewOf } from '../../views/surroundings.ts'
import { textsOf } from '../../views/texts.ts'
import {
  addressOf,
  choiceLabel,
  comingCard,
  facts,
  heldCard,
  parseSwapOut,
  removalsIn,
  type SwapChoice,
} from './pairs.ts'
import { swapWords } from './words.ts'

/** The second choice of a swap: the new benefit, beside the one to give up. */
export type SwapChooseView = ViewOf<'SWAP_CHOOSE'> &
  Asking & {
    /** The benefit to give up; absent when a free slot is filled. */
    readonly out?: BenefitCard | undefined
    readonly available: readonly BenefitCard[]
    readonly chosen?: string | undefined
    readonly effectiveon: IsoDate
  }

/** The second choice: the new benefit, shown beside the one to give up. */
export const swapChoose: Step<SwapChooseView> = {
  show: (visit, typed) => {
    const choosing = choosingIn(visit, typed.form)
    if (!choosing || choosing.available.length === 0) return { to: 'swap' }
    const { options, out, available } = choosing
    return {
      view: 'SWAP_CHOOSE',
      page: pageOf(visit),
      out: out === 'free' ? undefined : heldCard(visit, out),
      available: available.map(benefit => comingCard(visit, options, benefit)),
      chosen: typed.form.get('in') ?? visit.user.swap?.pairs.find(pair => pair.remove === out)?.add,
      effectiveon: localDay(visit, options.boundary),
    }
  },
  post: (visit, form) => {
    const choosing = choosingIn(visit, form)
    if (!choosing) return { to: 'swap' }
    const { out, available } = choosing
    const names = available.map(({ name }) => name)
    const chosen = parseSwapIn(form, names, out === 'free' ? 'free' : 'instead')
    return isFaulty(chosen) ? chosen : { to: addressOf(widened(visit, out, chosen)) }
  },
}

/** What a form gives up, and what can come for it; `undefined` when no such swap is open. */
function choosingIn(visit: Visit, form: URLSearchParams) {
  const options = swapOptionsOf(visit)
  if (!options || options.isClosed) return undefined
  const out = parseSwapOut(form, options.slots)
  return isFaulty(out) ? undefined : { options, out, available: availableFor(visit, options, out) }
}

/**
 * The pending swap without failing pairs, one pair added or replaced. A benefit for a free slot takes over a pending bare
 * removal, because the API matches `add[i]` with `remove[i]`.
 */
function widened(visit: Visit, from: string, chosen: string): SwapChoice {
  const out = from === 'free' ? (removalsIn(visit)[0]?.remove ?? from) : from
  const others = pairsThatHold(visit).flatMap(({ add, remove }) =>
    add === undefined || remove === out ? [] : [{ add, remove }],
  )
  return [...others, { add: chosen, remove: out === 'free' ? undefined : out }]
}

/** Reads the new benefit; refuses a form without one, and one that is not open. */
export function parseSwapIn(
  form: URLSearchParams,
  available: readonly string[],
  slot: 'instead' | 'free',
): Parsed<string> {
  const missing = slot === 'free' ? 'swap_add_missing' : 'swap_in_missing'
  return parseOneOf(form, { input: 'in', code: form.get('in') ? 'benefit_unavailable' : missing }, available)
}

/** The second choice: the new benefit, with the one to give up beside it. */
export function drawSwapChoose(view: SwapChooseView): Content {
  const { page, out, available, chosen, effectiveon } = view
  const texts = textsOf(page)
  const words = swapWords[page.locale]
  const on = dayText(page, effectiveon)
  const title = out ? words.choose(out.displayname) : words.choosefree
  const choices = oneOf(view, 'in', {
    legend: html`<legend><h2>${texts.swap.from(on)}</h2></legend>`,
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
    ? html`<div class="exchange"><section class="goes"><h2>${words.now}</h2><article class="card"><div class="top"><img
src="${out.iconurl}" alt="" width="48" height="48"><div><h3>${out.displayname}</h3></div></div>
<p>${out.description}</p>${facts(page, out)}${coverage(page, out)}</article></section>${choices}</div>`
    : choices,
  primary(texts.shell.continue),
])}`,
  })
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
