import { type Html, html, type Slot } from '../../../http/html.ts'
import { coverField, heldCover } from '../../views/cover.ts'
import { coverageFacts } from '../../views/coverage.ts'
import { type Answers, inputId } from '../../views/fields.ts'
import { costText, dayText, totalText, worthText } from '../../views/format.ts'
import { type IconName, icon } from '../../views/icons.ts'
import type { BenefitCard, BenefitStatus, Cost } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Localized, Page } from '../../views/surroundings.ts'

/** One benefit: a row that can be ticked where `box` is the id of its box, and details that open below it. */
export function benefitRow(
  { answers, focus }: { readonly answers: Answers; readonly focus: string | undefined },
  card: BenefitCard,
  box?: string,
): Html {
  const { page } = answers
  const say = sayIn(page)

  const isClosed = ['full', 'otherplan', 'unavailable'].includes(card.status.kind)
  const isAsked = box !== undefined && card.status.kind !== 'waiting'
  const face = html`<img src="${card.iconurl}" alt="" width="40" height="40"><span class="what"><span
class="name">${card.displayname}</span><span class="hint">${
    card.worth ? worthText(page, card.worth) : card.description
  }</span>${
    !card.cover &&
    card.cost.kind === 'amount' &&
    html`<span class="price">${costText(page, card.cost)}</span>`
  }</span>`
  return html`<article class="row${isClosed && ' closed'}" id="card-${inputId(card.name)}">
${
  box === undefined
    ? html`<div class="face">${face}</div>`
    : html`<label class="choice face"><input type="checkbox" id="${box}" name="benefit" value="${card.name}"
aria-label="${boxLabel(page, card)}"${priceData(card.cost)}${card.selected && html` checked`}>${face}</label>`
}
${!isAsked && card.status.kind !== 'included' && statusText(page, card.status)}
${
  card.status.kind === 'full' &&
  card.status.swapto &&
  html`<p><a class="secondary" href="${page.root}/${card.status.swapto}">${say`Swap a benefit for ${card.displayname}`}</a></p>`
}
${card.cover && html`${coverField(answers, card.cover)}\n`}${card.held && html`${heldCover(page, card, card.held)}\n`}<details${card.name === focus && html` open`}><summary>${say`Details`}<span class="unseen">: ${card.displayname}</span></summary>${moreOf(page, card)}</details>
</article>`
}

function boxLabel(page: Page, { displayname, status }: BenefitCard): string {
  const say = sayIn(page)

  return status.kind === 'waiting' ? say`Go on with ${displayname}` : say`Choose ${displayname}`
}

/** What a benefit pays and what not, what it costs and from when, who insures it. */
function moreOf(page: Page, card: BenefitCard): Html {
  const say = sayIn(page)

  return html`<p>${card.description}</p>
${
  card.pays.length > 0 &&
  html`<h3>${say`What is covered`}</h3><ul class="ticks">${card.pays.map(line => html`<li>${icon('check')}${line}</li>`)}</ul>`
}
${
  card.notcovered.length > 0 &&
  html`<h3>${say`What is not covered`}</h3><ul class="ticks not">${card.notcovered.map(
    line => html`<li>${icon('no')}${line}</li>`,
  )}</ul>`
}
<dl class="known"><div><dt>${say`Your cost`}</dt><dd>${costFacts(page, card)}</dd></div>
${
  card.startson && html`<div><dt>${say`Coverage starts`}</dt><dd>${dayText(page, card.startson)}</dd></div>`
}</dl>
${coverageFacts(page, card.coverage)}`
}

/** What it costs, and who collects it. */
function costFacts(page: Localized, { cost, cover }: BenefitCard): Slot {
  const say = sayIn(page)

  if (cost.kind === 'nothing' && !cover) return say`Free`
  const { taken } = cost.kind === 'amount' ? cost : {}
  return html`${cover ? say`It depends on who is covered.` : costText(page, cost)}${
    taken && html`<p class="hint">${say`Taken ${taken.how} by ${taken.by}`}</p>`
  }`
}

/** The status of a benefit, as a sign and words. */
function statusText(page: Page, status: BenefitStatus): Html {
  const say = sayIn(page)
  const [sign, kind] = signs[status.kind]
  const reasons = status.kind === 'unavailable' ? status.reasons : []
  const isAhead = status.kind === 'scheduled' || status.kind === 'swapin'
  const end = isAhead && status.until && say`Ends on ${dayText(page, status.until)}`
  return html`<div class="status ${kind}">${icon(sign)}<div><p>${statusWords(page, status)}</p>${
    end && html`<p>${end}</p>`
  }${reasons.map(reason => html`<p class="hint">${reason}</p>`)}</div></div>`
}

const signs: Readonly<Record<BenefitStatus['kind'], readonly [IconName, 'good' | 'warn' | 'plain']>> = {
  enrolled: ['check', 'good'],
  included: ['check', 'good'],
  scheduled: ['clock', 'plain'],
  ending: ['clock', 'warn'],
  swapin: ['swap', 'plain'],
  swapout: ['swap', 'plain'],
  actionrequired: ['alert', 'warn'],
  waiting: ['alert', 'warn'],
  unavailable: ['no', 'plain'],
  full: ['swap', 'plain'],
  otherplan: ['info', 'plain'],
  available: ['plus', 'plain'],
}

function statusWords(page: Page, status: BenefitStatus): string {
  const say = sayIn(page)
  const on = (day: string) => dayText(page, day)
  switch (status.kind) {
    case 'enrolled':
      return status.until
        ? say`Coverage began on ${on(status.since)} and ends on ${on(status.until)}`
        : say`Coverage began on ${on(status.since)}`
    case 'scheduled':
      return say`Starts on ${on(status.from)}`
    case 'swapin':
      return say`Starts on ${on(status.from)} (swap)`
    case 'ending':
      return say`Ends on ${on(status.on)}`
    case 'swapout':
      return say`Last day: ${on(status.on)} (swap)`
    case 'actionrequired':
    case 'waiting':
      return status.dueon
        ? say`Needs something from you before ${on(status.dueon)}, or it will not start`
        : say`Something is still needed from you`
    case 'otherplan':
      return say`Available with ${new Intl.ListFormat(page.locale, { type: 'disjunction' }).format(status.plans)}`
    case 'available':
      return say`You can choose this`
    case 'included':
      return say`Included`
    case 'unavailable':
      return say`You cannot get this now`
    case 'full':
      return say`Your plan has no room for one more`
  }
}

/** The data at a box with which the page's script adds up prices: cents and time span. */
function priceData(cost: Cost): Slot {
  return cost.kind === 'amount' && html` data-cents="${Math.round(cost.amount * 100)}" data-per="${cost.per}"`
}

/**
 * The total cost of the chosen benefits, as of the loaded form; a script updates it with each choice. Where no script runs,
 * the style sheet hides it and the count of choices, which would be false after the first choice, and shows that the next
 * view has the total. With `isAddition` it is called the cost of what is added, because a member already pays for other
 * benefits.
 */
export function runningTotal(
  page: Page,
  { included, chosen }: { included: readonly BenefitCard[]; chosen: readonly BenefitCard[] },
  isAddition: boolean,
): Slot {
  const say = sayIn(page)

  const costs = (cards: readonly BenefitCard[]) => cards.map(({ cost }) => cost)
  const base = { week: 0, month: 0, once: 0 }
  // What includes a choice of people is added by the script, with the price of that choice.
  for (const cost of costs(included.filter(({ cover }) => !cover)))
    if (cost.kind === 'amount') base[cost.per] += Math.round(cost.amount * 100)
  return html`<p class="total" data-total data-week="${base.week}" data-month="${base.month}" data-once="${base.once}"
data-weekly="${say`${'0'} a week`}" data-monthly="${say`${'0'} a month`}" data-single="${say`${'0'} once`}"
data-and="${say`${''} and ${''}`}" data-free="${say`Free`}">${
    isAddition ? say`What you add costs so far` : say`Your total so far`
  }: <strong>${totalText(page, costs([...included, ...chosen]))}</strong></p><p class="unscripted">${
    isAddition ? say`The next page says what you add costs.` : say`Your total is on the next page.`
  }</p>`
}
