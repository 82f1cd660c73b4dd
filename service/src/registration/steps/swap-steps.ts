import { swapBenefitsOf } from '../../benefits/swap.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { heldEnrolment, type SwapPair as MemberPair } from '../../membership/rules/state.ts'
import { knownBenefit, openBenefit } from '../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { checkConsents, parseSwap, parseSwapIn, parseSwapOut, type SwapChoice } from '../views/choices.ts'
import { isFaulty } from '../views/faults.ts'
import type { BenefitCard, BenefitLine, SwapPair } from '../views/parts.ts'
import { consentsFor, isOfRecords, withAgreed } from './agreements.ts'
import { foreseenLine, isPairCalledOff, visitAfter } from './ahead.ts'
import { cardOf, dayOf, enrolmentLine, nameLine, standingLine, statusOf } from './cards.ts'
import { namingFirst, namingLines } from './naming.ts'
import { type ConfirmedChange, changeAndConfirm } from './outcomes.ts'
import type { Posted, Step } from './step.ts'
import { availableFor, pairsThatHold, type SwapOptions, swapOptionsOf, wantedIn } from './swap-options.ts'

/** The first choice: which pick to give up, or a free slot to fill. */
export const swap: Step = {
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
      effectiveon: dayOf(visit, options.boundary),
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

/** The second choice: the new benefit, shown beside the one to give up. */
export const swapChoose: Step = {
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
      effectiveon: dayOf(visit, options.boundary),
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

/** The chosen swap side by side. Its address names the benefits, so that going back shows the same. */
export const swapConfirm: Step = {
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
      effectiveon: dayOf(visit, options.boundary),
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

function removalsIn(visit: Visit): readonly MemberPair[] {
  return pairsThatHold(visit).filter(({ add }) => add === undefined)
}

/** Undoes a pending swap. */
export const swapUndo: Step = {
  show: () => ({ to: 'swap' }),
  post: (visit, form) => swapNow(visit, [], { form }),
}

function swapNow(
  visit: Visit,
  choice: readonly MemberPair[],
  asked: Pick<ConfirmedChange, 'form' | 'agreements'>,
): Promise<Posted> {
  const change: ConfirmedChange = {
    why: 'swap',
    ...asked,
    decide: ({ user, now, terms }) => {
      const agreed = withAgreed(user, visit, asked.agreements ?? [])
      const change = swapBenefitsOf(agreed, listsOf(choice), now, terms())
      return !isRefusal(change) && change.user.swap === user.swap ? 'unchanged' : change
    },
  }
  return changeAndConfirm(visit, choice.length > 0 ? 'swapped' : 'undone', change, code =>
    // The rules refuse the swap by now: the view is shown again as it is today.
    code === 'change_locked' || code === 'cancel_pending'
      ? 'conflict'
      : { errors: [{ input: 'form', code: 'benefit_unavailable' }] },
  )
}

/** A swap in the terms of the API: `add[i]` replaces `remove[i]`, further adds fill free slots. */
function listsOf(choice: readonly MemberPair[]) {
  return { add: choice.flatMap(({ add }) => add ?? []), remove: choice.flatMap(({ remove }) => remove ?? []) }
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

function pairsShown(
  visit: Visit,
  options: SwapOptions,
  pairs: readonly MemberPair[],
  after: Visit,
): SwapPair[] {
  return pairs.flatMap((pair): SwapPair[] => {
    const out = goingLine(visit, pair)
    if (pair.add === undefined) return out ? [{ out }] : []
    const benefit = openBenefit(visit.terms, pair.add)
    if (!benefit) return []
    const coming = waitingIn(visit, benefit.name) ?? foreseenLine(visit, after, benefit, options.boundary)
    return [{ out, in: coming }]
  })
}

/** The benefit that a pair gives up, without dates: it ends at the moment at which the new one starts. */
function goingLine(visit: Visit, { remove }: MemberPair): BenefitLine | undefined {
  const held = remove === undefined ? undefined : heldEnrolment(visit.user, remove)
  if (!held) return undefined
  const { name, displayname, iconurl, cost } = enrolmentLine(visit, held)
  return { name, displayname, iconurl, cost }
}

/** The new benefit of a pending swap, if a consent or a beneficiary is missing: it may then not start at all. */
function waitingIn(visit: Visit, name: string): BenefitLine | undefined {
  const planned = visit.user.enrolments.find(one => one.benefit === name && one.plannedBy === 'swap')
  return planned?.state === 'actionrequired' ? enrolmentLine(visit, planned) : undefined
}

function heldCard(visit: Visit, name: string): BenefitCard | undefined {
  const benefit = knownBenefit(visit.terms, visit.user, name)
  const held = heldEnrolment(visit.user, name)
  return benefit && held ? cardOf(visit, benefit, { status: statusOf(visit, held) }) : undefined
}

function comingCard(visit: Visit, options: SwapOptions, benefit: Benefit): BenefitCard {
  return cardOf(visit, benefit, { status: { kind: 'available' }, startsAt: options.boundary })
}

/**
 * The pending swap without failing pairs, one pair added or replaced. A benefit for a free slot takes over a planned bare
 * removal, because the API matches `add[i]` with `remove[i]`.
 */
function widened(visit: Visit, from: string, chosen: string): SwapChoice {
  const out = from === 'free' ? (removalsIn(visit)[0]?.remove ?? from) : from
  const others = pairsThatHold(visit).flatMap(({ add, remove }) =>
    add === undefined || remove === out ? [] : [{ add, remove }],
  )
  return [...others, { add: chosen, remove: out === 'free' ? undefined : out }]
}

/** The address of the confirmation of a swap. It names the benefits, so that going back shows the same. */
function addressOf(choice: readonly MemberPair[]): string {
  const free = choice.filter(({ remove }) => remove === undefined)
  const query = new URLSearchParams()
  for (const pair of choice)
    if (pair.add !== undefined)
      query.set(`replace.${pair.remove ?? `free${free.indexOf(pair) + 1}`}`, pair.add)
  return `swap/confirm?${query}`
}
