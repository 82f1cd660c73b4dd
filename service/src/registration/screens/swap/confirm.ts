import { swapBenefitsOf } from '../../../benefits/swap.ts'
import type { Instant } from '../../../calendar/calendar.ts'
import { html } from '../../../http/html.ts'
import type { SwapPair as MemberPair } from '../../../membership/rules/state.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { consentsFor, isOfRecords } from '../../steps/agreements.ts'
import { visitAfter } from '../../steps/ahead.ts'
import { localDay } from '../../steps/cards.ts'
import { namingFirst, namingLines } from '../../steps/naming.ts'
import { checkConsents } from '../../steps/posted.ts'
import type { Step } from '../../steps/step.ts'
import { swapOptionsOf } from '../../steps/swap-options.ts'
import { consentFields } from '../../views/consents.ts'
import { coverageSection, exchangeSection } from '../../views/coverage.ts'
import type { Asking } from '../../views/faults.ts'
import { form, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import type { Content } from '../../views/layout.ts'
import { namingSection } from '../../views/naming.ts'
import type { ConsentText, IsoDate, NamingLine, SwapPair } from '../../views/parts.ts'
import type { ViewOf } from '../../views/surroundings.ts'
import { addressOf, listsOf, pairList, pairsShown, removalsIn, type SwapChoice, swapNow } from './pairs.ts'
import { swapWords } from './words.ts'

/** The chosen swap side by side, before it is made. */
export type SwapConfirmView = ViewOf<'SWAP_CONFIRM'> &
  Asking & {
    readonly pairs: readonly SwapPair[]
    readonly effectiveon: IsoDate
    readonly lockedat: Instant
    readonly naming?: readonly NamingLine[]
    readonly consents: readonly ConsentText[]
  }

/** The chosen swap side by side. Its address names the benefits, so that going back shows the same. */
export const swapConfirm: Step<SwapConfirmView> = {
  show: (visit, typed) => {
    const wanted = swapIn(visit, typed.form)
    if (!wanted || wanted.options.isClosed) return { to: 'swap' }
    const { options, choice, coming } = wanted
    const next = addressOf(choice)
    const unnamed = namingFirst(visit, coming, next)
    if (unnamed) return unnamed
    const tried = swapBenefitsOf(visit.user, listsOf(choice), visit.now, visit.terms)
    return {
      view: 'SWAP_CONFIRM',
      page: pageOf(visit),
      pairs: pairsShown(visit, options, choice, visitAfter(visit, tried)),
      effectiveon: localDay(visit, options.boundary),
      lockedat: options.lockedAt,
      naming: namingLines(visit, coming, next),
      consents: consentsFor(visit, coming, typed.posted),
    }
  },
  post: (visit, form) => {
    const wanted = swapIn(visit, form)
    if (!wanted || wanted.options.leaving !== undefined) return 'conflict'
    const { options, choice, coming } = wanted
    const agreements = consentsFor(visit, coming)
    return (
      namingFirst(visit, coming, addressOf(choice)) ??
      checkConsents(form, agreements, 'confirm', name =>
        isOfRecords(name) || options.available.length === coming.length ? undefined : 'otherbenefit',
      ) ??
      swapNow(visit, choice, { form, agreements })
    )
  },
}

/** The swap that a form or an address names, and the benefits that it brings; `undefined` when it is not open. */
function swapIn(visit: Visit, form: URLSearchParams) {
  const options = swapOptionsOf(visit)
  const available = options?.available.map(({ name }) => name) ?? []
  const chosen = options && parseSwap(form, { ...options, available })
  if (!chosen) return undefined
  const choice: readonly MemberPair[] = [...chosen, ...removalsBeside(visit, chosen)]
  return {
    options,
    choice,
    coming: options.available.filter(({ name }) => choice.some(({ add }) => add === name)),
  }
}

/** Removals that the partner planned without a replacement. A new swap replaces the whole planned one, so these are added back. */
function removalsBeside(visit: Visit, chosen: SwapChoice): readonly MemberPair[] {
  return removalsIn(visit).filter(({ remove }) => !chosen.some(one => one.remove === remove))
}

/** What can be exchanged: benefits held, benefits to have instead, and free slots. */
type Swappable = {
  readonly held: readonly string[]
  readonly available: readonly string[]
  readonly freeslots: number
}

/** Reads a swap; `undefined` for an empty one, the same new benefit twice, and benefits that are not open. */
export function parseSwap(form: URLSearchParams, allowed: Swappable): SwapChoice | undefined {
  const free = Array.from({ length: allowed.freeslots }, (_, at) => `free${at + 1}`)
  const chosenFor = (slot: string, remove?: string) => {
    const add = form.get(`replace.${slot}`)
    return add ? [{ add, remove }] : []
  }
  const pairs = [
    ...allowed.held.flatMap(name => chosenFor(name, name)),
    ...free.flatMap(slot => chosenFor(slot)),
  ]
  const added = new Set(pairs.map(({ add }) => add))
  const isOpen = [...added].every(name => allowed.available.includes(name))
  return pairs.length > 0 && added.size === pairs.length && isOpen ? pairs : undefined
}

/** The chosen swap side by side, with its day and until when it can be undone. */
export function drawSwapConfirm(view: SwapConfirmView): Content {
  const { page, pairs, effectiveon, lockedat, consents } = view
  const coming = pairs.flatMap(pair => pair.in ?? [])
  const words = swapWords[page.locale]
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
