import type { Instant } from '../../../calendar/calendar.ts'
import { type Benefit, textIn } from '../../../catalogue/model.ts'
import { type Html, html, type Slot } from '../../../http/html.ts'
import { heldEnrolment } from '../../../membership/rules/state.ts'
import { knownBenefit, openBenefit } from '../../../membership/rules/terms.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { isPairCalledOff } from '../../steps/ahead.ts'
import { cardOf, localDay, nameLine, standingLine } from '../../steps/cards.ts'
import { saveAnswers } from '../../steps/change-own.ts'
import { type Asked, coverChoice, namingPath, readCover } from '../../steps/family.ts'
import type { Step } from '../../steps/step.ts'
import { parseOneOf } from '../../steps/step.ts'
import {
  availableFor,
  pairsThatHold,
  type SwapOptions,
  swapOptionsOf,
  wantedIn,
} from '../../steps/swap-options.ts'
import { coverField } from '../../views/cover.ts'
import { isFaulty, type Parsed } from '../../views/faults.ts'
import { type Answers, type Choice, draftField, form, oneOf, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText, worthText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { notice } from '../../views/layout.ts'
import { costLine, leavingNotice } from '../../views/lists.ts'
import type { BenefitCard, SwapPair } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'
import { addressOf, goingLine, pairList, pairsShown, removalsIn, type SwapChoice, swapNow } from './pairs.ts'

/**
 * One question: which benefit to give up, or a free slot to fill, and which to have; what each covers opens beside it. A swap that is
 * planned is shown instead, with the button that undoes it.
 */
export const swap: Step = {
  show: (visit, { form: asked, posted, errors }) => {
    const options = swapOptionsOf(visit)
    if (!options) return { to: 'overview' }
    const page = pageOf(visit)
    const say = sayIn(page)
    const { slots, leaving, isClosed } = options
    const on = dayText(page, localDay(visit, options.boundary))
    const locked = options.isLocked && leaving === undefined
    const pending = pendingPairs(visit, options)
    const coming = openIn(visit, options)
    const wanted = wantedIn(visit, options, asked)
    const isOpen = !isClosed && slots.length > 0 && coming.length > 0
    const isAsked = isOpen && (pending.length === 0 || asked.has('more') || errors !== undefined)
    const isPossible = !locked && (isOpen || pending.length > 0)
    const body = html`${leaving !== undefined && leavingNotice(page, leaving, 'swap')}
${isPossible && html`<p class="lead">${say`Exchange a benefit you have for another one. The new one starts on ${on}.`} ${say`The old one ends at the moment the new one starts.`}</p>`}
${locked && notice(say`Swaps are closed for this month`, say`You can plan another swap from ${on}.`)}
${isPossible && html`<p class="withsign">${icon('clock')}${say`You can change or undo a swap until ${deadlineText(page, options.lockedAt)}.`}</p>`}
${pending.length > 0 && plannedSwap(page, pending, on)}
${pending.length > 0 && !options.isLocked && !isAsked && undoing(page, isOpen)}
${!isClosed && !isOpen && html`<p>${say`There is nothing to swap with right now.`}</p>`}
${
  isAsked &&
  form({ page }, 'swap', [
    pending.length > 0 && html`<input type="hidden" name="more" value="1">`,
    html`<div class="exchange">${choiceOf({ page, errors }, 'out', {
      legend: wanted
        ? say`Which benefit do you want to swap for ${textIn(wanted.displayname, page.locale)}?`
        : say`Which benefit do you want to swap?`,
      chosen: asked.get('out') ?? (slots.length === 1 ? slots[0] : undefined),
      choices: slots.map(slot => choice(visit, page, slot)),
    })}${choiceOf({ page, errors }, 'in', {
      legend: say`What do you want instead?`,
      chosen: asked.get('in') ?? wanted?.name,
      choices: coming.map(({ name }): Choice => {
        const one = choice(visit, page, name)
        const cover = coverFor(visit, name, options.boundary)
        const field = cover && coverChoice(visit, cover, posted)
        return field ? { ...one, more: [one.more, coverField({ page, errors }, field)] } : one
      }),
    })}</div>`,
    primary(say`Continue`),
  ])
}`
    const content = { title: say`Swap a benefit`, wide: isAsked, asks: isAsked, back: 'overview', body }
    return question('SWAP', { page, errors }, content)
  },
  post: (visit, form) => {
    const options = swapOptionsOf(visit)
    if (!options || options.isClosed) return { to: 'swap' }
    const coming = openIn(visit, options).flatMap(({ name }) => coverFor(visit, name, options.boundary) ?? [])
    const aside = namingPath(form)
    const asked = coming.map(one => ({ ...one, isChosen: !aside && one.benefit.name === form.get('in') }))
    const cover = readCover(visit, form, asked)
    const chosen = aside ? { to: aside } : parseExchange(visit, options, form)
    const errors = [chosen, cover].flatMap(one => (isFaulty(one) ? one.errors : []))
    if (isFaulty(chosen) || isFaulty(cover)) return { errors }
    const next = 'to' in chosen ? chosen : { to: addressOf(widened(visit, chosen.out, chosen.in)) }
    return coming.length > 0 ? saveAnswers(visit, next, draft => ({ ...draft, ...cover })) : next
  },
}

/** The benefits that may come for one of those that can be given up, or into a free slot. */
function openIn(visit: Visit, options: SwapOptions): readonly Benefit[] {
  const open = new Set(
    options.slots.flatMap(slot => availableFor(visit, options, slot).map(({ name }) => name)),
  )
  return options.available.filter(({ name }) => open.has(name))
}

/** Who a benefit that a swap brings may cover from then on. */
function coverFor(visit: Visit, name: string, at: Instant): Asked | undefined {
  const benefit = openBenefit(visit.terms, name)
  return benefit?.tiers && { benefit, at }
}

/** Reads both choices, with every fault at once; refuses a benefit that cannot come for the one that goes. */
function parseExchange(
  visit: Visit,
  options: SwapOptions,
  form: URLSearchParams,
): Parsed<{ readonly out: string; readonly in: string }> {
  const out = parseOneOf(form, { input: 'out', code: 'swap_missing' }, options.slots)
  const open = isFaulty(out) ? openIn(visit, options) : availableFor(visit, options, out)
  const missing = out === 'free' ? 'swap_add_missing' : 'swap_in_missing'
  const code = form.get('in') ? 'benefit_unavailable' : missing
  const coming = parseOneOf(
    form,
    { input: 'in', code },
    open.map(({ name }) => name),
  )
  const errors = [out, coming].flatMap(one => (isFaulty(one) ? one.errors : []))
  return isFaulty(out) || isFaulty(coming) ? { errors } : { out, in: coming }
}

/** Undoes a pending swap. */
export const swapUndo: Step = {
  show: () => ({ to: 'swap' }),
  post: (visit, form) => swapNow(visit, [], { form }),
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

function plannedSwap(page: Page, pending: readonly SwapPair[], on: string): Html {
  const say = sayIn(page)
  const isOff = (pair: SwapPair) => pair.iscalledoff
  return html`<section class="panel"><h2>${say`Your swap so far`}</h2>
${pairList(page, pending, on)}
${
  pending.every(isOff)
    ? html`<p>${say`As things are now, the swap planned for ${on} will not happen.`}</p>`
    : html`<p>${say`It takes effect on ${on}.`}</p>${
        pending.some(isOff) &&
        html`<p>${say`What you cannot get now will not start, and what it was to replace stays as it is.`}</p>`
      }`
}</section>`
}

/** The button that undoes what is planned, and the way to plan more. */
function undoing(page: Page, isOpen: boolean): Html {
  const say = sayIn(page)
  return html`<form method="post" action="${page.root}/swap/undo">${draftField(page)}<p class="actions"><button
class="primary">${say`Undo this swap`}</button>${
    isOpen && html`<a class="secondary" href="${page.root}/swap?more=1">${say`Change this swap`}</a>`
  }</p></form>`
}

/** A benefit of this name in plain words; its status is not shown here. */
function faceOf(visit: Visit, name: string): BenefitCard | undefined {
  const benefit = knownBenefit(visit.terms, visit.user, name)
  return benefit && cardOf(visit, benefit, { status: { kind: 'available' } })
}

/** One of two questions, with its heading. */
function choiceOf(
  answers: Answers,
  input: 'out' | 'in',
  {
    legend,
    ...rest
  }: { readonly legend: string; readonly choices: readonly Choice[]; readonly chosen: string | undefined },
): Html {
  return oneOf(answers, input, { ...rest, legend: html`<legend><h2>${legend}</h2></legend>` })
}

/** A benefit to give up or to have, with what it covers; or the free slot. */
function choice(visit: Visit, page: Page, slot: string): Choice {
  const say = sayIn(page)
  const card = faceOf(visit, slot)
  if (card) return { value: slot, label: choiceLabel(page, card), more: coverage(page, card) }
  const none = html`<strong>${say`None: add a benefit`}</strong><span class="hint">${say`Your plan has room for one more.`}</span>`
  return { value: slot, label: none }
}

/** The label of a benefit to choose: its name, what it pays or is, and what it costs. */
function choiceLabel(page: Page, card: BenefitCard): Slot {
  const { worth, cost, description } = card
  const facts = [worth && worthText(page, worth), cost.kind === 'amount' && costLine(page, cost)]
  const shown = facts.filter(fact => fact).map(fact => `${fact}.`)
  return html`<span class="withicon"><img src="${card.iconurl}" alt="" width="40"
height="40"><strong>${card.displayname}</strong></span><span class="hint">${
    worth ? '' : `${description} `
  }${shown.join(' ')}</span>`
}

/** What is covered and what is not, in a part that opens. */
function coverage(page: Page, card: BenefitCard): Slot {
  const say = sayIn(page)

  if (card.pays.length === 0) return null
  return html`<details><summary>${say`What is covered`}<span class="unseen">: ${card.displayname}</span></summary>
${card.worth && html`<p>${card.description}</p>`}
<ul class="ticks">${card.pays.map(line => html`<li>${icon('check')}${line}</li>`)}</ul>
${
  card.notcovered.length > 0 &&
  html`<p class="label">${say`What is not covered`}</p><ul class="ticks not">${card.notcovered.map(
    line => html`<li>${icon('no')}${line}</li>`,
  )}</ul>`
}</details>`
}
