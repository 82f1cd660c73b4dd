import { swapBenefitsOf } from '../../../benefits/swap.ts'
import { html } from '../../../http/html.ts'
import type { SwapPair as MemberPair } from '../../../membership/rules/state.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { consentsFor, isOfRecords } from '../../steps/agreements.ts'
import { visitAfter } from '../../steps/ahead.ts'
import { localDay } from '../../steps/cards.ts'
import type { Step } from '../../steps/step.ts'
import { checkConsents } from '../../steps/step.ts'
import { swapOptionsOf } from '../../steps/swap-options.ts'
import { consentFields } from '../../views/consents.ts'
import { coverageSection, exchangeSection } from '../../views/coverage.ts'
import { form, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { sayIn } from '../../views/say.ts'
import { listsOf, pairList, pairsShown, removalsIn, type SwapChoice, slotsOf, swapNow } from './pairs.ts'

/** The chosen swap side by side. Its address names the benefits, so that going back shows the same. */
export const swapConfirm: Step = {
  show: (visit, { form: asked, posted, errors }) => {
    const wanted = swapIn(visit, asked)
    if (!wanted || wanted.options.isClosed) return { to: 'swap' }
    const { options, choice, coming } = wanted
    const tried = swapBenefitsOf(visit.user, listsOf(visit, choice, options.boundary), visit.now, visit.terms)
    const pairs = pairsShown(visit, options, choice, visitAfter(visit, tried))
    const page = pageOf(visit)
    const say = sayIn(page)
    const effectiveon = localDay(visit, options.boundary)
    const body = html`${pairList(page, pairs, dayText(page, effectiveon))}
${pairs.some(({ out }) => out) && html`<p>${say`The old one ends at the moment the new one starts.`}</p>`}
<p class="withsign">${icon('clock')}${say`You can change or undo a swap until ${deadlineText(page, options.lockedAt)}.`}</p>
${exchangeSection(page, pairs, effectiveon)}
${coverageSection(
  page,
  pairs.flatMap(pair => pair.in ?? []),
)}
${form({ page }, 'swap/confirm', [
  slotsOf(choice).map(([slot, name]) => html`<input type="hidden" name="replace.${slot}" value="${name}">`),
  consentFields({ page, errors }, consentsFor(visit, coming, posted)),
  primary(say`Confirm swap`),
])}`
    return question('SWAP_CONFIRM', { page, errors }, { title: say`Check your swap`, back: 'swap', body })
  },
  post: (visit, form) => {
    const wanted = swapIn(visit, form)
    if (!wanted || wanted.options.leaving !== undefined) return 'conflict'
    const { options, choice, coming } = wanted
    const agreements = consentsFor(visit, coming)
    return (
      checkConsents(form, agreements, 'confirm', name =>
        isOfRecords(name) || options.available.length === coming.length ? undefined : 'otherbenefit',
      ) ?? swapNow(visit, choice, { form, agreements })
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
