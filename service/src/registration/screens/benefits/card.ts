import { type Html, html, type Slot } from '../../../http/html.ts'
import { coverageFacts } from '../../views/coverage.ts'
import { inputId } from '../../views/fields.ts'
import { costText, dayText, worthText } from '../../views/format.ts'
import { type IconName, icon } from '../../views/icons.ts'
import type { BenefitCard, BenefitStatus, Cost } from '../../views/parts.ts'
import { totalText } from '../../views/price.ts'
import { inBoth, type Localized, type Page } from '../../views/surroundings.ts'
import { textsOf } from '../../views/texts.ts'

/** One benefit: a row that can be ticked where `box` is the id of its box, and details that open below it. */
export function benefitRow(
  { page, focus }: { readonly page: Page; readonly focus?: string | undefined },
  card: BenefitCard,
  box?: string,
): Html {
  const words = textsOf(page).benefits
  const isClosed = ['full', 'otherplan', 'unavailable'].includes(card.status.kind)
  const isAsked = box !== undefined && card.status.kind !== 'waiting'
  const face = html`<img src="${card.iconurl}" alt="" width="40" height="40"><span class="what"><span
class="name">${card.displayname}</span><span class="hint">${
    card.worth ? worthText(page, card.worth) : card.description
  }</span>${
    card.cost.kind === 'amount' && html`<span class="price">${costText(page, card.cost)}</span>`
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
  html`<p><a class="secondary" href="${page.root}/${card.status.swapto}">${words.status.fullswap(
    card.displayname,
  )}</a></p>`
}
<details${card.name === focus && html` open`}><summary>${
    cardWords[page.locale].details
  }<span class="unseen">: ${card.displayname}</span></summary>${moreOf(page, card)}</details>
</article>`
}

function boxLabel(page: Page, { displayname, status }: BenefitCard): string {
  const words = cardWords[page.locale]
  return status.kind === 'waiting' ? words.goon(displayname) : words.choose(displayname)
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
${
  card.startson &&
  html`<div><dt>${cardWords[page.locale].starts}</dt><dd>${dayText(page, card.startson)}</dd></div>`
}</dl>
${coverageFacts(page, card.coverage)}`
}

/** What it costs, and who collects it. */
function costFacts(page: Localized, cost: Cost): Slot {
  const words = textsOf(page).coverage.price
  if (cost.kind === 'nothing') return words.free
  const { taken } = cost
  return html`${costText(page, cost)}${
    taken && html`<p class="hint">${cardWords[page.locale].taken(taken.how, taken.by)}</p>`
  }`
}

/** The status of a benefit, as a sign and words. */
function statusText(page: Page, status: BenefitStatus): Html {
  const [sign, kind] = signs[status.kind]
  const reasons = status.kind === 'unavailable' ? status.reasons : []
  const isAhead = status.kind === 'scheduled' || status.kind === 'swapin'
  const end = isAhead && status.until && textsOf(page).benefits.status.ending(dayText(page, status.until))
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
  const words = textsOf(page).benefits.status
  const on = (day: string) => dayText(page, day)
  switch (status.kind) {
    case 'enrolled':
      return status.until
        ? words.enrolleduntil(on(status.since), on(status.until))
        : words.enrolled(on(status.since))
    case 'scheduled':
    case 'swapin':
      return words[status.kind](on(status.from))
    case 'ending':
    case 'swapout':
      return words[status.kind](on(status.on))
    case 'actionrequired':
    case 'waiting':
      return status.dueon ? words.actionrequiredby(on(status.dueon)) : words.actionrequired
    case 'otherplan':
      return words.otherplan(new Intl.ListFormat(page.locale, { type: 'disjunction' }).format(status.plans))
    default:
      return words[status.kind]
  }
}

/** The words of one benefit. */
export const cardWords = inBoth({
  en: {
    choose: (name: string) => `Choose ${name}`,
    goon: (name: string) => `Go on with ${name}`,
    details: 'Details',
    starts: 'Coverage starts',
    taken: (how: string, by: string) => `Taken ${how} by ${by}`,
  },
  es: {
    choose: name => `Elegir ${name}`,
    goon: name => `Seguir con “${name}”`,
    details: 'Detalles',
    starts: 'Empieza',
    taken: (how, by) => `${by} lo cobra ${how}`,
  },
})

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
  const words = textsOf(page).coverage.price
  const own = totalWords[page.locale]
  const costs = (cards: readonly BenefitCard[]) => cards.map(({ cost }) => cost)
  const base = { week: 0, month: 0, once: 0 }
  for (const cost of costs(included))
    if (cost.kind === 'amount') base[cost.per] += Math.round(cost.amount * 100)
  return html`<p class="total" data-total data-week="${base.week}" data-month="${base.month}" data-once="${base.once}"
data-weekly="${words.week('0')}" data-monthly="${words.month('0')}" data-single="${words.once('0')}"
data-and="${words.and('', '')}" data-free="${words.free}">${
    isAddition ? own.added : own.total
  }: <strong>${totalText(page, costs([...included, ...chosen]))}</strong></p><p class="unscripted">${
    isAddition ? own.addednext : own.totalnext
  }</p>`
}

/** The words before the total of what is chosen so far. */
export const totalWords = inBoth({
  en: {
    total: 'Your total so far',
    /** Where no script adds it up. */
    totalnext: 'Your total is on the next page.',
    added: 'What you add costs so far',
    addednext: 'The next page says what you add costs.',
  },
  es: {
    total: 'Su total hasta ahora',
    totalnext: 'Su total está en la página siguiente.',
    added: 'Lo que agrega cuesta hasta ahora',
    addednext: 'La página siguiente dice cuánto cuesta lo que agrega.',
  },
})
