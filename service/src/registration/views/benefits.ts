import { type Html, html, type Slot } from '../../http/html.ts'
import { statusText } from './benefit-status.ts'
import { coverageFacts } from './coverage.ts'
import { errorOf, fault, form, inputId, primary, question } from './fields.ts'
import { costText, dayText, moneyText } from './format.ts'
import { icon } from './icons.ts'
import type { Content } from './layout.ts'
import { memberPaths } from './lists.ts'
import type { BenefitsView } from './model.ts'
import type { BenefitCard, BenefitStatus, Cost, Worth } from './parts.ts'
import { priceData, runningTotal } from './running-total.ts'
import { leavingNotice } from './standing.ts'
import type { Localized, Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** The benefits to read about and choose, in groups. */
export function benefits(view: BenefitsView): Content {
  const { page, cards, slots, focus } = view
  const texts = textsOf(page)
  const words = texts.benefits
  const groups = groupCards(cards)
  const askable = [...groups.waiting, ...groups.available]
  const choosing = slots > 0 && askable.length > 0
  const isAboutHeld = groups.yours.some(isOf(focus))
  const title = choosing && groups.available.length > 0 && !isAboutHeld ? words.title : texts.already.title
  const chosen = askable.filter(card => card.selected)
  const starts = commonStart(choosing ? askable : groups.included)
  const lists = [
    { heading: texts.standing.waiting.title, found: groups.waiting, asks: true },
    { heading: words.yours, found: groups.yours },
    { heading: words.included, found: groups.included },
    { heading: words.available, found: groups.available, asks: true },
    { heading: words.swap, found: groups.swap },
    { heading: words.unavailable, found: groups.unavailable },
  ].filter(({ found, asks }) => found.length > 0 && (choosing || !asks))
  const all = html`<div class="groups">${lists
    .sort(firstWhere(({ found }) => found.some(isOf(focus))))
    .map(list => (list.asks ? choices(view, list) : cardList(view, list)))}</div>`
  return question(view, {
    title,
    wide: true,
    asks: choosing || !view.paths,
    back: view.back ?? 'details',
    body: html`${view.leaving !== undefined && leavingNotice(page, view.leaving, 'all')}
<p class="lead">${lead(view, choosing ? groups.available : [])}${
      starts && ` ${words.allstart(dayText(page, starts))}`
    }</p>
${
  choosing || !view.paths
    ? form(view, 'benefits', [
        all,
        html`<div class="bottom">${
          choosing &&
          html`<div class="sums">${count(page, chosen.length, slots)}${runningTotal(
            page,
            { included: view.paths ? [] : groups.included, chosen },
            view.paths !== undefined,
          )}</div>`
        }${primary(texts.shell.continue)}</div>`,
      ])
    : all
}
${view.paths && memberPaths(page, view.paths)}`,
  })
}

/** How many of `open` can be chosen. */
function lead(view: BenefitsView, open: readonly BenefitCard[]): string {
  const texts = textsOf(view.page)
  const { offername, slots, paths, waitingslots = 0 } = view
  const { lead, leadmore } = texts.benefits
  const free = slots - waitingslots
  if (free > 0 && open.length > 0) return (paths ? leadmore : lead)(free, offername)
  if (!paths) return texts.benefits.leadnone(offername)
  const { yours, waiting, swap, unavailable } = groupCards(view.cards)
  const hasAny = yours.length + waiting.length + swap.length > 0
  if (!hasAny) return texts.standing.nothing(offername)
  // What the person came for is listed first, and may be none of theirs.
  const isFirst = unavailable.some(isOf(view.focus))
  return isFirst ? texts.already.plan(offername) : texts.already.lead(offername)
}

/** Benefits under one heading. */
type CardGroup = { readonly heading: string; readonly found: readonly BenefitCard[] }

function cardList(view: BenefitsView, { heading, found }: CardGroup): Html {
  const shown = found.toSorted(firstWhere(isOf(view.focus))).map(card => benefitRow(view, card))
  return html`<section class="cards"><h2>${heading}</h2><div class="rows">${shown}</div></section>`
}

function choices(view: BenefitsView, { heading, found }: CardGroup): Html {
  const { focus } = view
  const error = errorOf(view, 'benefit')
  // The link of an error leads to the first box of the whole form.
  const first = firstShown(view)
  return html`<fieldset class="cards field${error && ' wrong'}"${error && html` aria-describedby="benefit-error"`}>
<legend><h2>${heading}</h2></legend>
${found.some(isOf(first)) && fault(view, 'benefit', error)}
<div class="rows">${found
    .toSorted(firstWhere(isOf(focus)))
    .map(card =>
      benefitRow(view, card, card.name === first ? 'benefit' : inputId(`benefit-${card.name}`)),
    )}</div>
</fieldset>`
}

/** How many are chosen of how many, and what to do about too many; the page's script says it anew at each tick. */
function count(page: Page, chosen: number, slots: number): Html {
  const words = textsOf(page).benefits
  const isOver = chosen > slots
  return html`<p class="count${isOver && ' over'}" data-count data-slots="${slots}" data-one="${words.count(1, slots)}" data-many="${words.count(99, slots)}" data-full="${words.toomany(slots)}">${words.count(
    chosen,
    slots,
  )}${isOver && ` ${words.toomany(slots)}`}</p>`
}

/** The day on which all of these start, if it is one and the same. */
function commonStart(cards: readonly BenefitCard[]): string | undefined {
  const [start, ...others] = new Set(cards.map(card => card.startson))
  return others.length === 0 ? start : undefined
}

function firstShown({ cards, focus }: BenefitsView): string | undefined {
  const { waiting, available } = groupCards(cards)
  const isFirst = available.some(isOf(focus))
  const shown = isFirst || waiting.length === 0 ? available : waiting
  return (shown.find(isOf(focus)) ?? shown[0])?.name
}

/** Whether a card is that of this benefit, such as the one that a deep link is about. */
function isOf(name: string | undefined): (card: BenefitCard) => boolean {
  return card => card.name === name
}

/** The order in which what fits comes first, and everything else stays as it is. */
function firstWhere<One>(fits: (one: One) => boolean): (a: One, b: One) => number {
  return (a, b) => Number(fits(b)) - Number(fits(a))
}

/** One benefit: a row that can be ticked where `box` is the id of its box, and details that open below it. */
function benefitRow(view: BenefitsView, card: BenefitCard, box?: string): Html {
  const { page, focus } = view
  const words = textsOf(page).benefits
  const isClosed = ['full', 'otherplan', 'unavailable'].includes(card.status.kind)
  const isAsked = box !== undefined && card.status.kind !== 'waiting'
  const face = html`<img src="${card.iconurl}" alt="" width="40" height="40"><span class="what"><span class="name">${card.displayname}</span><span class="hint">${
    card.worth ? worthText(page, card.worth) : card.description
  }</span>${
    card.cost.kind === 'amount' && html`<span class="price">${costText(page, card.cost)}</span>`
  }</span>`
  return html`<article class="row${isClosed && ' closed'}" id="card-${inputId(card.name)}">
${
  box === undefined
    ? html`<div class="face">${face}</div>`
    : html`<label class="choice face"><input type="checkbox" id="${box}" name="benefit" value="${card.name}" aria-label="${boxLabel(page, card)}"${priceData(card.cost)}${
        card.selected && html` checked`
      }>${face}</label>`
}
${!isAsked && card.status.kind !== 'included' && statusText(page, card.status)}
${
  card.status.kind === 'full' &&
  card.status.swapto &&
  html`<p><a class="secondary" href="${page.root}/${card.status.swapto}">${words.status.fullswap(
    card.displayname,
  )}</a></p>`
}
<details${
    card.name === focus && html` open`
  }><summary>${words.details}<span class="unseen">: ${card.displayname}</span></summary>${moreOf(page, card)}</details>
</article>`
}

function boxLabel(page: Page, { displayname, status }: BenefitCard): string {
  const { standing, benefits } = textsOf(page)
  return status.kind === 'waiting' ? standing.waiting.goon(displayname) : benefits.choose(displayname)
}

/** What a benefit pays and what not, what it costs and from when, who insures it. */
function moreOf(page: Page, card: BenefitCard): Html {
  const words = textsOf(page).benefits
  return html`<p>${card.description}</p>
${
  card.pays.length > 0 &&
  html`<h3>${words.pays}</h3><ul class="ticks">${card.pays.map(line => html`<li>${icon('check')}${line}</li>`)}</ul>`
}
${
  card.notcovered.length > 0 &&
  html`<h3>${words.notcovered}</h3><ul class="ticks not">${card.notcovered.map(
    line => html`<li>${icon('no')}${line}</li>`,
  )}</ul>`
}
<dl class="known"><div><dt>${words.costs}</dt><dd>${costFacts(page, card.cost)}</dd></div>
${card.startson && html`<div><dt>${words.starts}</dt><dd>${dayText(page, card.startson)}</dd></div>`}</dl>
${coverageFacts(page, card.coverage)}`
}

/** What a benefit pays, in words. */
export function worthText(page: Localized, worth: Worth): string {
  const texts = textsOf(page)
  const amount = moneyText(page, worth)
  return worth.per ? texts.benefits.worthper[worth.per](amount) : texts.benefits.worth(amount)
}

/** What it costs, and who collects it. */
function costFacts(page: Localized, cost: Cost): Slot {
  const words = textsOf(page).coverage.price
  if (cost.kind === 'nothing') return words.free
  const { taken } = cost
  return html`${costText(page, cost)}${taken && html`<p class="hint">${words.takenplain(taken.how, taken.by)}</p>`}`
}

/** The groups of the view, by the status of their cards. */
function groupCards(cards: readonly BenefitCard[]) {
  const of = (...kinds: readonly BenefitStatus['kind'][]) =>
    cards.filter(card => kinds.includes(card.status.kind))
  return {
    waiting: of('waiting'),
    yours: of('enrolled', 'scheduled', 'ending', 'actionrequired'),
    included: of('included'),
    available: of('available'),
    swap: of('swapin', 'swapout'),
    unavailable: of('full', 'otherplan', 'unavailable'),
  }
}
