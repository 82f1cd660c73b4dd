import { swapBenefitsOf } from '../../../benefits/swap.ts'
import type { Instant } from '../../../calendar/calendar.ts'
import { type Html, html } from '../../../http/html.ts'
import { swapBoundary } from '../../../membership/rules/boundary.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import { heldEnrolment, type SwapPair as MemberPair } from '../../../membership/rules/state.ts'
import { openBenefit } from '../../../membership/rules/terms.ts'
import type { Visit } from '../../session/visit.ts'
import { withAgreed } from '../../steps/agreements.ts'
import { foreseenLine } from '../../steps/ahead.ts'
import { enrolmentLine } from '../../steps/cards.ts'
import { type ConfirmedChange, changeAndConfirm } from '../../steps/change-own.ts'
import { coveredBy } from '../../steps/family.ts'
import type { Posted } from '../../steps/step.ts'
import { pairsThatHold, type SwapOptions } from '../../steps/swap-options.ts'
import { icon } from '../../views/icons.ts'
import { benefitLine } from '../../views/lists.ts'
import type { BenefitLine, SwapPair } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/** Each new benefit of a swap, with the one that it replaces; those that fill free slots come last. */
export type SwapChoice = readonly { readonly add: string; readonly remove: string | undefined }[]

/** The pairs of the pending swap that only take a benefit away. */
export function removalsIn(visit: Visit): readonly MemberPair[] {
  return pairsThatHold(visit).filter(({ add }) => add === undefined)
}

/** Makes a swap, or undoes the pending one if the choice is empty, and leads to its confirmation. */
export function swapNow(
  visit: Visit,
  choice: readonly MemberPair[],
  asked: Pick<ConfirmedChange, 'form' | 'agreements'>,
): Promise<Posted> {
  const change: ConfirmedChange = {
    why: 'swap',
    ...asked,
    decide: ({ user, now, terms }) => {
      const agreed = withAgreed(user, visit, asked.agreements ?? [])
      const change = swapBenefitsOf(
        agreed,
        listsOf(visit, choice, swapBoundary(user, now, terms())),
        now,
        terms(),
      )
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

/** A swap in the terms of the API: `add[i]` replaces `remove[i]`, further adds fill free slots, each with whom it is to cover. */
export function listsOf(visit: Visit, choice: readonly MemberPair[], at: Instant) {
  const add = choice.flatMap(pair => pair.add ?? [])
  const covered = add.map(name => {
    const benefit = openBenefit(visit.terms, name)
    const people = benefit ? coveredBy(visit, { benefit, at }) : []
    return { name, dependants: people.map(({ dependantid }) => dependantid) }
  })
  return {
    add,
    remove: choice.flatMap(({ remove }) => remove ?? []),
    covered: covered.filter(({ dependants }) => dependants.length > 0),
  }
}

/** Pairs as the views show them, with the dates that hold in `after`; without those whose new benefit is no longer open. */
export function pairsShown(
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
export function goingLine(visit: Visit, { remove }: MemberPair): BenefitLine | undefined {
  const held = remove === undefined ? undefined : heldEnrolment(visit.user, remove)
  if (!held) return undefined
  const { name, displayname, iconurl, cost } = enrolmentLine(visit, held)
  return { name, displayname, iconurl, cost }
}

/** The new benefit of a pending swap, if a consent or a beneficiary is missing: it may then not start at all. */
function waitingIn(visit: Visit, name: string): BenefitLine | undefined {
  const pending = visit.user.enrolments.find(one => one.benefit === name && one.pendingBy === 'swap')
  return pending?.state === 'actionrequired' ? enrolmentLine(visit, pending) : undefined
}

/** What each new benefit replaces or fills: the name of the benefit to give up, or a number for each free slot. */
export function slotsOf(choice: readonly MemberPair[]): readonly (readonly [slot: string, name: string])[] {
  const free = choice.filter(({ remove }) => remove === undefined)
  return choice.flatMap(pair =>
    pair.add === undefined ? [] : [[pair.remove ?? `free${free.indexOf(pair) + 1}`, pair.add] as const],
  )
}

/** The address of the confirmation of a swap. It names the benefits, so that going back shows the same. */
export function addressOf(choice: readonly MemberPair[]): string {
  const slots = slotsOf(choice).map(([slot, name]): [string, string] => [`replace.${slot}`, name])
  return `swap/confirm?${new URLSearchParams(slots)}`
}

/** The pairs side by side: what is given up, and what comes. */
export function pairList(page: Page, pairs: readonly SwapPair[], on: string): Html {
  const say = sayIn(page)
  return html`<ul class="pairs">${pairs.map(
    pair =>
      html`<li><div class="side out"><p class="when">${say`Now`}</p>${
        pair.out
          ? html`<div class="line">${benefitLine(page, pair.out)}</div>`
          : html`<p class="hint">${say`Open spot`}</p>`
      }</div><span class="between">${icon('arrow')}</span><div class="side in"><p class="when">${say`From ${on}`}</p>${
        pair.in
          ? html`<div class="line">${benefitLine(page, pair.in)}</div>`
          : html`<p class="hint">${say`Open spot`}</p>`
      }</div></li>`,
  )}</ul>`
}
