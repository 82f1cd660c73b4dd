import type { Locale } from '@benefit-enrolment/contract'
import { type Html, html, type Slot } from '../../http/html.ts'
import { coverageFacts } from './coverage.ts'
import { errorOf, fault, form, inputId, primary, question } from './fields.ts'
import { costText, dayText, moneyText } from './format.ts'
import { type IconName, icon } from './icons.ts'
import type { Content } from './layout.ts'
import { memberPaths } from './lists.ts'
import type { BenefitsView } from './model.ts'
import type { BenefitCard, BenefitStatus, Cost, Worth } from './parts.ts'
import { priceData, runningTotal } from './running-total.ts'
import { leavingNotice } from './standing.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** The benefits to read about and choose, in groups. */
export function benefits(view: BenefitsView): Content {
  const { page, cards, slots } = view
  const texts = textsOf(page.locale)
  const words = texts.benefits
  const groups = groupCards(cards)
  const askable = [...groups.waiting, ...groups.available]
  const choosing = slots > 0 && askable.length > 0
  const isAboutHeld = groups.yours.some(card => card.name === view.focus)
  const title = choosing && groups.available.length > 0 && !isAboutHeld ? words.title : words.titlenone
  const chosenCards = askable.filter(card => card.selected)
  const chosen = chosenCards.length
  const list = (heading: string, found: readonly BenefitCard[]) => {
    if (found.length === 0) return { found, body: null }
    const all = firstOf(found, view.focus).map(card => benefitCard(page, card, view.focus))
    return {
      found,
      body: html`<section class="cards${found.length === 1 && ' single'}"><h2>${heading}</h2><div class="grid">${all}</div></section>`,
    }
  }
  const lists = [
    {
      found: groups.waiting,
      body: choosing && choices(view, { found: groups.waiting, heading: texts.standing.waiting.title }),
    },
    list(words.yours, groups.yours),
    list(words.included, groups.included),
    {
      found: groups.available,
      body: choosing && choices(view, { found: groups.available, heading: words.available }),
    },
    list(words.swap, groups.swap),
    list(words.unavailable, groups.unavailable),
  ]
  const isAbout = ({ found }: { found: readonly BenefitCard[] }) =>
    found.some(card => card.name === view.focus)
  const inOrder = [...lists.filter(isAbout), ...lists.filter(one => !isAbout(one))]
  const all = html`<div class="groups">${inOrder.map(({ body }) => body)}</div>`
  return question(view, {
    title,
    wide: true,
    asks: choosing || !view.paths,
    back: `${page.root}/${view.back ?? 'details'}`,
    body: html`${view.leaving !== undefined && leavingNotice(page, view.leaving, 'all')}
<p class="lead">${lead(view, choosing ? groups.available : [])}</p>
${
  choosing || !view.paths
    ? form(view, 'benefits', [
        all,
        html`<div class="bottom">${choosing && html`<p class="count${chosen > slots && ' over'}" data-count data-slots="${slots}" data-one="${words.count(1, slots)}" data-many="${words.count(99, slots)}" data-full="${words.toomany(slots)}">${words.count(chosen, slots)}${chosen > slots && ` ${words.toomany(slots)}`}</p>`}${choosing && runningTotal(page, { included: included(view), chosen: chosenCards }, view.paths !== undefined)}${primary(texts.shell.continue)}</div>`,
      ])
    : all
}
${view.paths && memberPaths(page, view.paths)}`,
  })
}

/** How many of `open` can be chosen; mentions swaps if a benefit is left that could be swapped in. */
function lead(view: BenefitsView, open: readonly BenefitCard[]): string {
  const texts = textsOf(view.page.locale)
  const { offername, slots, paths, waitingslots = 0 } = view
  const { lead, leadmore, later } = texts.benefits
  const free = slots - waitingslots
  const many = (paths ? leadmore : lead)(free, offername)
  const swapsLater = open.length > free && view.leaving === undefined
  if (free > 0 && open.length > 0) return swapsLater ? `${many} ${later}` : many
  if (!paths) return texts.benefits.leadnone(offername)
  const { yours, waiting, swap } = groupCards(view.cards)
  const hasAny = yours.length + waiting.length + swap.length > 0
  return hasAny ? texts.already.lead(offername) : texts.standing.nothing(offername)
}

/** Puts the card that a deep link is about first. */
function firstOf(cards: readonly BenefitCard[], focus: string | undefined): readonly BenefitCard[] {
  return [...cards.filter(({ name }) => name === focus), ...cards.filter(({ name }) => name !== focus)]
}

function choices(
  view: BenefitsView,
  { found, heading }: { readonly found: readonly BenefitCard[]; readonly heading: string },
): Slot {
  if (found.length === 0) return null
  const { page } = view
  const texts = textsOf(page.locale)
  const error = errorOf(view, 'benefit')
  // The link of an error leads to the first box of the whole form.
  const first = firstShown(view)
  return html`<fieldset class="cards field${error && ' wrong'}"${error && html` aria-describedby="benefit-error"`}>
<legend><h2>${heading}</h2></legend>
${found.some(card => card.name === first) && fault(view, 'benefit', error)}
<div class="grid">${firstOf(found, view.focus).map(card => {
    const id = card.name === first ? 'benefit' : inputId(`benefit-${card.name}`)
    const box = html`<label class="choice"><input type="checkbox" id="${id}" name="benefit" value="${card.name}"${priceData(card.cost)}${card.selected && html` checked`}><span>${card.status.kind === 'waiting' ? texts.standing.waiting.goon(card.displayname) : texts.benefits.choose(card.displayname)}</span></label>`
    return benefitCard(page, card, view.focus, box)
  })}</div>
</fieldset>`
}

function firstShown(view: BenefitsView): string | undefined {
  const { waiting, available } = groupCards(view.cards)
  const isFirst = available.some(card => card.name === view.focus)
  return firstOf(isFirst || waiting.length === 0 ? available : waiting, view.focus)[0]?.name
}

/** A benefit in plain words, with a box if it can be chosen. */
function benefitCard(page: Page, card: BenefitCard, focus?: string, choose: Slot = null): Html {
  const words = textsOf(page.locale).benefits
  const { locale } = page
  const opened = card.name === focus
  const isClosed = ['full', 'otherplan', 'unavailable', 'unknown'].includes(card.status.kind)
  return html`<article class="card${isClosed && ' closed'}" id="card-${inputId(card.name)}">
<div class="top"><img src="${card.iconurl}" alt="" width="48" height="48"><div><h3>${card.displayname}</h3>${card.worth && html`<p class="worth">${worthText(locale, card.worth)}</p>`}</div></div>
<p>${card.description}</p>
<dl class="facts"><div><dt>${words.costs}</dt><dd>${costFacts(locale, card.cost)}</dd></div>
${card.startson && html`<div><dt>${words.starts}</dt><dd>${dayText(locale, card.startson)}</dd></div>`}</dl>
${
  card.pays.length > 0 &&
  html`<details${opened && html` open`}><summary>${words.pays}<span class="unseen">: ${card.displayname}</span></summary>
<ul class="ticks">${card.pays.map(line => html`<li>${icon('check')}${line}</li>`)}</ul>
${card.notcovered.length > 0 && html`<h4>${words.notcovered}</h4><ul class="ticks not">${card.notcovered.map(line => html`<li>${icon('no')}${line}</li>`)}</ul>`}${coverageFacts(page, card.coverage)}</details>`
}
${choose && card.status.kind !== 'waiting' ? choose : [statusText(page, card.status), choose]}
${card.status.kind === 'full' && card.status.swapto && html`<p><a class="secondary" href="${page.root}/${card.status.swapto}">${words.status.fullswap(card.displayname)}</a></p>`}
</article>`
}

/** What a benefit pays, in words. */
export function worthText(locale: Locale, worth: Worth): string {
  const texts = textsOf(locale)
  const amount = moneyText(locale, worth)
  return worth.per ? texts.benefits.worthper[worth.per](amount) : texts.benefits.worth(amount)
}

/** What it costs, and who collects it. */
function costFacts(locale: Locale, cost: Cost): Slot {
  const words = textsOf(locale).coverage.price
  if (cost.kind === 'nothing') return words.free
  const { taken } = cost
  return html`${costText(locale, cost)}${taken && html`<p class="hint">${words.takenplain(taken.how, taken.by)}</p>`}`
}

/** The status of a benefit, as a sign and words. */
function statusText(page: Page, status: BenefitStatus): Html {
  const { sign, kind, text } = statusParts(page, status)
  const reasons = status.kind === 'unavailable' ? status.reasons : []
  return html`<div class="status ${kind}">${icon(sign)}<div><p>${text}</p>${reasons.map(reason => html`<p class="hint">${reason}</p>`)}</div></div>`
}

function statusParts(
  page: Page,
  status: BenefitStatus,
): { readonly sign: IconName; readonly kind: string; readonly text: string } {
  const words = textsOf(page.locale).benefits.status
  const on = (day: string) => dayText(page.locale, day)
  switch (status.kind) {
    case 'enrolled':
      return {
        sign: 'check',
        kind: 'good',
        text: status.until
          ? words.enrolleduntil(on(status.since), on(status.until))
          : words.enrolled(on(status.since)),
      }
    case 'included':
      return { sign: 'check', kind: 'good', text: words.included }
    case 'scheduled':
      return { sign: 'clock', kind: 'plain', text: words.scheduled(on(status.from)) }
    case 'ending':
      return { sign: 'clock', kind: 'warn', text: words.ending(on(status.on)) }
    case 'swapin':
      return { sign: 'swap', kind: 'plain', text: words.swapin(on(status.from)) }
    case 'swapout':
      return { sign: 'swap', kind: 'plain', text: words.swapout(on(status.on)) }
    case 'actionrequired':
    case 'waiting': {
      const text = status.dueon ? words.actionrequiredby(on(status.dueon)) : words.actionrequired
      return { sign: 'alert', kind: 'warn', text }
    }
    case 'unavailable':
      return { sign: 'no', kind: 'plain', text: words.unavailable }
    case 'full':
      return { sign: 'swap', kind: 'plain', text: words.full }
    case 'otherplan': {
      const plans = new Intl.ListFormat(page.locale, { type: 'disjunction' }).format(status.plans)
      return { sign: 'info', kind: 'plain', text: words.otherplan(plans) }
    }
    case 'unknown':
      return { sign: 'info', kind: 'plain', text: status.text }
    case 'available':
      return { sign: 'plus', kind: 'plain', text: words.available }
  }
}

/**
 * Benefits that come with a newcomer's plan cost from the start; those that a member already holds are paid for
 * already.
 */
function included(view: BenefitsView): readonly BenefitCard[] {
  return view.paths ? [] : view.cards.filter(({ status }) => status.kind === 'included')
}

type CardGroups = {
  readonly waiting: readonly BenefitCard[]
  readonly yours: readonly BenefitCard[]
  readonly included: readonly BenefitCard[]
  readonly available: readonly BenefitCard[]
  readonly swap: readonly BenefitCard[]
  readonly unavailable: readonly BenefitCard[]
}

function groupCards(cards: readonly BenefitCard[]): CardGroups {
  const of = (...kinds: readonly BenefitStatus['kind'][]) =>
    cards.filter(card => kinds.includes(card.status.kind))
  return {
    waiting: of('waiting'),
    yours: of('enrolled', 'scheduled', 'ending', 'actionrequired'),
    included: of('included'),
    available: of('available'),
    swap: of('swapin', 'swapout'),
    unavailable: of('full', 'otherplan', 'unavailable', 'unknown'),
  }
}
