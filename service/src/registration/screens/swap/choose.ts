import { type Html, html, type Slot } from '../../../http/html.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { knownBenefit } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { isPairCalledOff } from '../../steps/ahead.ts'
import { cardOf, localDay, nameLine, standingLine } from '../../steps/cards.ts'
import { parseOneOf } from '../../steps/posted.ts'
import { type Drawn, drawn, type Step } from '../../steps/step.ts'
import {
  availableFor,
  pairsThatHold,
  type SwapOptions,
  swapOptionsOf,
  wantedIn,
} from '../../steps/swap-options.ts'
import { isFaulty, type Parsed } from '../../views/faults.ts'
import { draftField, form, oneOf, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText, worthText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { notice } from '../../views/layout.ts'
import { costLine, leavingNotice } from '../../views/lists.ts'
import type { BenefitCard, SwapPair } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'
import { addressOf, goingLine, pairList, pairsShown, removalsIn, type SwapChoice, swapNow } from './pairs.ts'

/** The first choice: which pick to give up, or a free slot to fill. */
export const swap: Step<Drawn<'SWAP'>> = {
  show: (visit, { form: asked, errors }) => {
    const options = swapOptionsOf(visit)
    if (!options) return { to: 'overview' }
    const page = pageOf(visit)
    const say = sayIn(page)
    const { slots, leaving, isClosed } = options
    const on = dayText(page, localDay(visit, options.boundary))
    const locked = options.isLocked && leaving === undefined
    const wanted = wantedIn(visit, options, asked)
    const pending = pendingPairs(visit, options)
    const isOpen = !isClosed && slots.length > 0 && availableFor(visit, options, undefined).length > 0
    const isPossible = !locked && (isOpen || pending.length > 0)
    const goes = wanted
      ? say`Which benefit do you want to swap for ${wanted.displayname[page.locale]}?`
      : say`Which benefit do you want to swap?`
    const body = html`${leaving !== undefined && leavingNotice(page, leaving, 'swap')}
${isPossible && html`<p class="lead">${say`Exchange a benefit you have for another one. The new one starts on ${on}.`} ${say`The old one ends at the moment the new one starts.`}</p>`}
${locked && notice(say`Swaps are closed for this month`, say`You can plan another swap from ${on}.`)}
${isPossible && html`<p class="withsign">${icon('clock')}${say`You can change or undo a swap until ${deadlineText(page, options.lockedAt)}.`}</p>`}
${pending.length > 0 && pendingSwap(page, pending, { on, locked: options.isLocked })}
${!isClosed && !isOpen && html`<p>${say`There is nothing to swap with right now.`}</p>`}
${
  isOpen &&
  form({ page }, 'swap', [
    wanted && html`<input type="hidden" name="in" value="${wanted.name}">`,
    oneOf({ page, errors }, 'out', {
      legend: html`<legend><h2>${goes}</h2></legend>`,
      chosen: asked.get('out') ?? (slots.length === 1 ? slots[0] : undefined),
      choices: slots.map(value => ({ value, label: slotLabel(visit, page, value) })),
    }),
    primary(say`Continue`),
  ])
}`
    const content = { title: say`Swap a benefit`, asks: isOpen, back: 'overview', body }
    return drawn('SWAP', page, question({ page, errors }, content))
  },
  post: (visit, form) => {
    const options = swapOptionsOf(visit)
    if (!options || options.isClosed) return { to: 'swap' }
    const out = parseSwapOut(form, options.slots)
    if (isFaulty(out)) return out
    const wanted = wantedIn(visit, options, form)
    const query = new URLSearchParams({ out, ...(wanted ? { in: wanted.name } : {}) })
    return { to: `swap/choose?${query}` }
  },
}

/** Undoes a pending swap. */
export const swapUndo: Step<never> = {
  show: () => ({ to: 'swap' }),
  post: (visit, form) => swapNow(visit, [], { form }),
}

/** The second choice: the new benefit, shown beside the one to give up. */
export const swapChoose: Step<Drawn<'SWAP_CHOOSE'>> = {
  show: (visit, { form: asked, errors }) => {
    const choosing = choosingIn(visit, asked)
    if (!choosing || choosing.available.length === 0) return { to: 'swap' }
    const { options, out, available } = choosing
    const page = pageOf(visit)
    const say = sayIn(page)

    const goes = faceOf(visit, out)
    const choices = oneOf({ page, errors }, 'in', {
      legend: html`<legend><h2>${say`From ${dayText(page, localDay(visit, options.boundary))}`}</h2></legend>`,
      chosen: asked.get('in') ?? visit.user.swap?.pairs.find(pair => pair.remove === out)?.add,
      choices: available
        .map(({ name }) => faceOf(visit, name))
        .filter(card => card !== undefined)
        .map(card => ({ value: card.name, label: choiceLabel(page, card), more: coverage(page, card) })),
    })
    const side =
      goes &&
      html`<div class="exchange"><section class="goes"><h2>${say`Now`}</h2><article class="card"><div class="top"><img
src="${goes.iconurl}" alt="" width="48" height="48"><div><h3>${goes.displayname}</h3></div></div>
<p>${goes.description}</p>${facts(page, goes)}${coverage(page, goes)}</article></section>${choices}</div>`
    const body = html`<p class="lead">${goes ? say`The old one ends at the moment the new one starts.` : say`Your plan has room for one more.`}</p>
${form({ page }, 'swap/choose', [
  html`<input type="hidden" name="out" value="${out}">`,
  side ?? choices,
  primary(say`Continue`),
])}`
    const title = goes
      ? say`What do you want instead of ${goes.displayname}?`
      : say`Which benefit do you want to add?`
    return drawn('SWAP_CHOOSE', page, question({ page, errors }, { title, wide: true, back: 'swap', body }))
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

/** Reads the benefit to give up, or `free` for a free slot; refuses one that cannot be given up. */
function parseSwapOut(form: URLSearchParams, slots: readonly string[]): Parsed<string> {
  return parseOneOf(form, { input: 'out', code: 'swap_missing' }, slots)
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

/** The pending swap, with what it was to bring and will not, and with what it only takes away. */
function pendingPairs(visit: Visit, options: SwapOptions): SwapPair[] {
  return (visit.user.swap?.pairs ?? []).flatMap((pair): SwapPair[] => {
    if (pair.add === undefined || !isPairCalledOff(visit, pair))
      return pairsShown(visit, options, [pair], visit)
    // In the locked hours the person may have got it in another way, which leaves the swap nothing to bring.
    const held = heldEnrolment(visit.user, pair.add)
    const line = held ? standingLine(visit, held) : { ...nameLine(visit, pair.add), isunavailable: true }
    return [{ out: goingLine(visit, pair), in: line, iscalledoff: true }]
  })
}

function pendingSwap(
  page: Page,
  pending: readonly SwapPair[],
  { on, locked }: { readonly on: string; readonly locked: boolean },
): Html {
  const say = sayIn(page)

  const isOff = (pair: SwapPair) => pair.iscalledoff
  return html`<section class="panel"><h2>${say`Your swap so far`}</h2>
${pairList(page, pending, on)}
${
  pending.every(isOff)
    ? html`<p>${say`As things are now, the swap planned for ${on} will not happen.`}</p>`
    : html`<p>${say`It takes effect on ${on}.`}</p>${pending.some(isOff) && html`<p>${say`What you cannot get now will not start, and what it was to replace stays as it is.`}</p>`}`
}
${
  !locked &&
  html`<form method="post" action="${page.root}/swap/undo">${draftField(page)}<p>
<button class="secondary">${say`Undo this swap`}</button></p></form>`
}</section>`
}

/** A benefit of this name in plain words; its status is not shown here. */
function faceOf(visit: Visit, name: string): BenefitCard | undefined {
  const benefit = knownBenefit(visit.terms, visit.user, name)
  return benefit && cardOf(visit, benefit, { status: { kind: 'available' } })
}

/** The label of a benefit to give up, or of the free slot. */
function slotLabel(visit: Visit, page: Page, slot: string): Slot {
  const say = sayIn(page)
  const card = faceOf(visit, slot)
  return card
    ? choiceLabel(page, card)
    : html`<strong>${say`None: add a benefit`}</strong><span class="hint">${say`Your plan has room for one more.`}</span>`
}

/** The label of a benefit to choose: its name, what it is, and what it pays and costs. */
function choiceLabel(page: Page, card: BenefitCard): Slot {
  return html`<span class="withicon"><img src="${card.iconurl}" alt="" width="40"
height="40"><strong>${card.displayname}</strong></span><span
class="hint">${card.description}</span>${facts(page, card)}`
}

/** What it pays and what it costs, in one line. */
function facts(page: Page, card: BenefitCard): Html {
  const worth = card.worth && worthText(page, card.worth)
  return html`<span class="hint">${[worth, costLine(page, card.cost)].filter(fact => fact).join('. ')}.</span>`
}

/** What is covered and what is not, in a part that opens. */
function coverage(page: Page, card: BenefitCard): Slot {
  const say = sayIn(page)

  if (card.pays.length === 0) return null
  return html`<details><summary>${say`What is covered`}<span class="unseen">: ${card.displayname}</span></summary>
<ul class="ticks">${card.pays.map(line => html`<li>${icon('check')}${line}</li>`)}</ul>
${
  card.notcovered.length > 0 &&
  html`<p class="label">${say`What is not covered`}</p><ul class="ticks not">${card.notcovered.map(
    line => html`<li>${icon('no')}${line}</li>`,
  )}</ul>`
}</details>`
}
