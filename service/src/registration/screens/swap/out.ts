import type { Instant } from '../../../calendar/calendar.ts'
import { type Html, html } from '../../../http/html.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { isPairCalledOff } from '../../steps/ahead.ts'
import { localDay, nameLine, standingLine } from '../../steps/cards.ts'
import type { Step } from '../../steps/step.ts'
import { availableFor, type SwapOptions, swapOptionsOf, wantedIn } from '../../steps/swap-options.ts'
import { type Asking, isFaulty } from '../../views/faults.ts'
import { draftField, form, oneOf, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { type Content, notice } from '../../views/layout.ts'
import { leavingNotice } from '../../views/lists.ts'
import type { BenefitCard, IsoDate, SwapPair } from '../../views/parts.ts'
import type { ViewOf } from '../../views/surroundings.ts'
import { textsOf } from '../../views/texts.ts'
import {
  choiceLabel,
  comingCard,
  goingLine,
  heldCard,
  pairList,
  pairsShown,
  parseSwapOut,
  swapNow,
} from './pairs.ts'
import { swapWords } from './words.ts'

/** The first choice of a swap: which benefit to give up, or a free slot to fill. */
export type SwapView = ViewOf<'SWAP'> &
  Asking & {
    readonly held: readonly BenefitCard[]
    readonly hasfreeslot: boolean
    /** Whether there is a benefit to have instead. */
    readonly choosable: boolean
    /** The benefit to give up, or `free`. */
    readonly chosen?: string | undefined
    /** The benefit that the person came for. */
    readonly wanted?: BenefitCard | undefined
    /** The first day of the new benefits. */
    readonly effectiveon: IsoDate
    /** Until when a swap can be made and undone. */
    readonly lockedat: Instant
    /** The swap that is pending already; a new exchange is added to it, and it can be undone unless `locked`. */
    readonly pending: readonly SwapPair[]
    readonly locked: boolean
    /** The last day of all benefits, if they are about to end: no swap is possible then. */
    readonly leaving?: IsoDate | undefined
  }

/** The first choice: which pick to give up, or a free slot to fill. */
export const swap: Step<SwapView> = {
  show: (visit, typed) => {
    const options = swapOptionsOf(visit)
    if (!options) return { to: 'overview' }
    const { slots, held } = options
    const chosen = typed.form.get('out') ?? (slots.length === 1 ? slots[0] : undefined)
    const wanted = wantedIn(visit, options, typed.form)
    return {
      view: 'SWAP',
      page: pageOf(visit),
      held: held.flatMap(name => heldCard(visit, name) ?? []),
      hasfreeslot: slots.includes('free'),
      choosable: availableFor(visit, options, undefined).length > 0,
      chosen,
      wanted: wanted && comingCard(visit, options, wanted),
      effectiveon: localDay(visit, options.boundary),
      lockedat: options.lockedAt,
      pending: pendingPairs(visit, options),
      locked: options.isLocked,
      leaving: options.leaving,
    }
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

/** The first choice: which benefit to give up, or a free slot to fill. */
export function drawSwap(view: SwapView): Content {
  const { page, held, hasfreeslot, effectiveon, pending, wanted, leaving } = view
  const texts = textsOf(page)
  const locked = view.locked && leaving === undefined
  const words = swapWords[page.locale]
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

/** One question: which benefit to give up. */
function slotChoice(view: SwapView): Html {
  const { page } = view
  const words = swapWords[page.locale]
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

function pendingSwap(view: SwapView, on: string): Html {
  const { page, pending, locked } = view
  const words = swapWords[page.locale]
  const { standing, swap } = textsOf(page)
  const isOff = (pair: SwapPair) => pair.iscalledoff
  return html`<section class="panel"><h2>${swap.pending}</h2>
${pairList(page, pending, on)}
${
  pending.every(isOff)
    ? html`<p>${standing.pending.noswap(on)}</p>`
    : html`<p>${words.pendingtext(on)}</p>${pending.some(isOff) && html`<p>${standing.pending.partly}</p>`}`
}
${
  !locked &&
  html`<form method="post" action="${page.root}/swap/undo">${draftField(page)}<p>
<button class="secondary">${words.undo}</button></p></form>`
}</section>`
}
