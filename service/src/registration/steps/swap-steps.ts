import { swapBenefitsOf } from '../../benefits/swap.ts'
import type { Benefit } from '../../catalogue/model.ts'
import { mergeConsents } from '../../membership/rules/enrolments.ts'
import { isRefusal } from '../../membership/rules/refusal.ts'
import { type Consent, heldEnrolment, type SwapPair as MemberPair } from '../../membership/rules/state.ts'
import { knownBenefit, offerOf, openBenefit } from '../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { parseConsents, parseSwap, parseSwapIn, parseSwapOut, type SwapChoice } from '../views/choices.ts'
import type { BenefitCard, BenefitLine, ConsentText, SwapPair } from '../views/parts.ts'
import { agreedNow, consentsFor } from './agreements.ts'
import { foreseenLine, visitAfter } from './ahead.ts'
import { cardOf, dayOf, enrolmentLine, statusOf } from './cards.ts'
import { changeOwn } from './change-own.ts'
import { confirmationOf } from './copies.ts'
import { mustNameNow, namingLines, namingPath } from './naming.ts'
import { confirmed } from './outcomes.ts'
import { referencesOf } from './reference.ts'
import type { Posted, Redirect, Step } from './step.ts'
import {
  allowedIn,
  availableFor,
  comingIn,
  type SwapOptions,
  swapOptionsOf,
  swappableSlots,
  wantedIn,
} from './swap-options.ts'

/** The first choice: which pick to give up, or a free slot to fill. */
export const swap: Step = {
  show: (visit, typed) => {
    const options = swapOptionsOf(visit)
    if (!options) return { to: 'overview' }
    const slots = swappableSlots(visit, options)
    const chosen = typed.form.get('out') ?? (slots.length === 1 ? slots[0] : undefined)
    const wanted = wantedIn(visit, options, typed.form)
    return {
      view: 'SWAP',
      page: pageOf(visit),
      held: options.held.flatMap(enrolment => heldCard(visit, enrolment.benefit) ?? []),
      hasfreeslot: slots.includes('free'),
      choosable: availableFor(visit, options, undefined).length > 0,
      chosen,
      wanted: wanted && comingCard(visit, options, wanted),
      effectiveon: dayOf(visit, options.boundary),
      lockedat: options.lockedAt,
      pending: pairsShown(visit, options, visit.user.swap?.pairs ?? [], visit),
      locked: options.isLocked,
      leaving: options.leaving,
    }
  },
  post: (visit, form) => {
    const options = swapOptionsOf(visit)
    if (!options || options.isClosed) return { to: 'swap' }
    const parsed = parseSwapOut(form, swappableSlots(visit, options))
    if (!parsed.ok) return { errors: parsed.errors }
    const wanted = wantedIn(visit, options, form)
    const query = new URLSearchParams({ out: parsed.values, ...(wanted ? { in: wanted.name } : {}) })
    return { to: `swap/choose?${query}` }
  },
}

/** The second choice: the new benefit, shown beside the one to give up. */
export const swapChoose: Step = {
  show: (visit, typed) => {
    const options = swapOptionsOf(visit)
    const out = options && parseSwapOut(typed.form, swappableSlots(visit, options))
    if (!options || options.isClosed || !out?.ok) return { to: 'swap' }
    const available = availableFor(visit, options, out.values)
    if (available.length === 0) return { to: 'swap' }
    const going = out.values === 'free' ? undefined : heldCard(visit, out.values)
    const chosen =
      typed.form.get('in') ?? visit.user.swap?.pairs.find(pair => pair.remove === out.values)?.add
    return {
      view: 'SWAP_CHOOSE',
      page: pageOf(visit),
      out: going,
      available: available.map(benefit => comingCard(visit, options, benefit)),
      chosen,
      effectiveon: dayOf(visit, options.boundary),
    }
  },
  post: (visit, form) => {
    const options = swapOptionsOf(visit)
    const out = options && parseSwapOut(form, swappableSlots(visit, options))
    if (!options || options.isClosed || !out?.ok) return { to: 'swap' }
    const available = availableFor(visit, options, out.values).map(({ name }) => name)
    const chosen = parseSwapIn(form, available, out.values === 'free' ? 'free' : 'instead')
    if (!chosen.ok) return { errors: chosen.errors }
    return { to: addressOf(widened(visit, out.values, chosen.values)) }
  },
}

/** The chosen swap side by side. Its address names the benefits, so that going back shows the same. */
export const swapConfirm: Step = {
  show: (visit, typed) => {
    const options = swapOptionsOf(visit)
    const parsed = options && parseSwap(typed.form, allowedIn(options))
    if (!options || options.isClosed || !parsed?.ok) return { to: 'swap' }
    const unnamed = namingFirst(visit, options, parsed.values)
    if (unnamed) return unnamed
    return {
      view: 'SWAP_CONFIRM',
      page: pageOf(visit),
      pairs: pairsShown(visit, options, pairsOf(parsed.values), afterSwap(visit, parsed.values)),
      effectiveon: dayOf(visit, options.boundary),
      lockedat: options.lockedAt,
      naming: namingLines(visit, comingIn(options, parsed.values), addressOf(parsed.values)),
      consents: consentsFor(visit, comingIn(options, parsed.values), typed.isPosted ? typed.form : undefined),
    }
  },
  post: async (visit, form) => {
    const options = swapOptionsOf(visit)
    const parsed = options && parseSwap(form, allowedIn(options))
    if (!options || options.leaving !== undefined || !parsed?.ok) return 'conflict'
    const unnamed = namingFirst(visit, options, parsed.values)
    if (unnamed) return unnamed
    const wanted = consentsFor(visit, comingIn(options, parsed.values), undefined)
    const agreed = parseConsents(form, wanted, 'confirm')
    if (!agreed.ok) return { errors: agreed.errors }
    const consents = agreedNow(visit, agreed.values)
    return swapNow(visit, parsed.values, { form, consents, agreements: wanted })
  },
}

/** Undoes a pending swap. */
export const swapUndo: Step = {
  show: () => ({ to: 'swap' }),
  post: (visit, form) => swapNow(visit, { add: [], remove: [] }, { form, consents: [], agreements: [] }),
}

async function swapNow(
  visit: Visit,
  choice: SwapChoice,
  {
    form,
    consents,
    agreements,
  }: { form: URLSearchParams; consents: readonly Consent[]; agreements: readonly ConsentText[] },
): Promise<Posted> {
  const outcome = choice.add.length > 0 ? 'swapped' : 'undone'
  const { next: reference } = await referencesOf(visit, outcome)
  const reply = await changeOwn(visit, {
    why: 'swap',
    reference,
    form,
    decide: ({ user, person, now, terms }) => {
      const isMade = JSON.stringify(user.swap?.pairs ?? []) === JSON.stringify(pairsOf(choice))
      if (isMade) return 'unchanged'
      const agreed = { ...user, consents: mergeConsents(user.consents, consents) }
      const change = swapBenefitsOf(agreed, choice, now, terms())
      if (isRefusal(change) || choice.add.length === 0) return change
      const offername = offerOf(visit.terms, user)?.displayname[visit.locale] ?? ''
      const copied = { person: person('profile') ?? {}, offername, agreements, reference }
      const confirmation = confirmationOf({ ...visit, now }, copied)
      return { ...change, confirmation }
    },
  })
  if (reply === 'done') return confirmed(visit, outcome)
  if (reply === 'gone' || reply === 'conflict') return reply
  // The rules refuse the swap by now: the view is shown again as it is today.
  const isClosed = reply === 'change_locked' || reply === 'cancel_pending'
  return isClosed ? 'conflict' : { errors: [{ input: 'form', code: 'benefit_unavailable' }] }
}

function pairsOf({ add, remove }: SwapChoice): MemberPair[] {
  return add.map((name, at) => ({ add: name, remove: remove[at] }))
}

/** The visit as it would be if this swap were planned. */
function afterSwap(visit: Visit, choice: SwapChoice): Visit {
  return visitAfter(visit, swapBenefitsOf(visit.user, choice, visit.now, visit.terms))
}

/** The path to name beneficiaries for the new benefit, if that is required and nobody is named yet. */
function namingFirst(visit: Visit, options: SwapOptions, choice: SwapChoice): Redirect | undefined {
  const unnamed = mustNameNow(visit, comingIn(options, choice))
  return unnamed === undefined ? undefined : { to: namingPath(unnamed, addressOf(choice)) }
}

function pairsShown(
  visit: Visit,
  options: SwapOptions,
  pairs: readonly MemberPair[],
  after: Visit,
): SwapPair[] {
  return pairs.flatMap(({ add, remove }) => {
    const benefit = add === undefined ? undefined : openBenefit(visit.terms, add)
    if (!benefit) return []
    const held = remove === undefined ? undefined : heldEnrolment(visit.user, remove)
    const coming = waitingIn(visit, benefit.name) ?? foreseenLine(visit, after, benefit, options.boundary)
    if (!held) return [{ in: coming }]
    // The benefit that is given up is shown without dates: it ends at the moment at which the new one starts.
    const { name, displayname, iconurl, cost } = enrolmentLine(visit, held)
    return [{ out: { name, displayname, iconurl, cost }, in: coming }]
  })
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

/** The pending swap with one exchange added or replaced. */
function widened(visit: Visit, out: string, chosen: string): SwapChoice {
  const pending = visit.user.swap?.pairs ?? []
  const free = pending.flatMap(({ add, remove }) => (remove === undefined && add !== undefined ? [add] : []))
  const pairs = new Map(
    pending.flatMap(({ add, remove }) =>
      add !== undefined && remove !== undefined ? [[remove, add] as const] : [],
    ),
  )
  if (out !== 'free') pairs.set(out, chosen)
  const added = out === 'free' ? [...free, chosen] : free
  return { add: [...pairs.values(), ...added], remove: [...pairs.keys()] }
}

/** The address of the confirmation of a swap. It names the benefits, so that going back shows the same. */
function addressOf({ add, remove }: SwapChoice): string {
  const query = new URLSearchParams()
  for (const [at, name] of add.entries())
    query.set(`replace.${remove[at] ?? `free${at - remove.length + 1}`}`, name)
  return `swap/confirm?${query}`
}
