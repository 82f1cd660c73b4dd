import { type Html, html, type Slot } from '../../http/html.ts'
import { draftField } from './fields.ts'
import { costText, dayText, namesText } from './format.ts'
import { type IconName, icon } from './icons.ts'
import { notice } from './layout.ts'
import type { BenefitLine, Cost, IsoDate, MemberPaths, StillToDo, WaitingName } from './parts.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** A short list of benefits, each with when it starts or ends and what it costs. */
export function benefitList(page: Page, lines: readonly BenefitLine[]): Html {
  return html`<ul class="lines">${lines.map(line => html`<li>${benefitLine(page, line)}</li>`)}</ul>`
}

/** The same without icons, for a box with several lists. */
export function shortList(page: Page, lines: readonly BenefitLine[]): Html {
  return html`<ul class="plain">${lines.map(line => html`<li>${lineWords(page, line)}</li>`)}</ul>`
}

/** One benefit with its icon, name and dates. */
export function benefitLine(page: Page, line: BenefitLine): Html {
  return html`<img src="${line.iconurl}" alt="" width="40" height="40"><div>${lineWords(page, line)}</div>`
}

function lineWords(page: Page, line: BenefitLine): Html {
  const texts = textsOf(page)
  const { status } = texts.benefits
  const facts = [
    line.startson && status.scheduled(dayText(page, line.startson)),
    line.waits && waitsText(page, line.waits),
    line.since && status.enrolled(dayText(page, line.since)),
    line.endson && endText(page, line.endson, line.endsatage),
    line.endedon && texts.done.ended(dayText(page, line.endedon)),
    line.cost?.kind === 'amount' && costLine(page, line.cost),
  ].filter(fact => fact)
  return html`<p class="name">${line.displayname}</p>${facts.map(fact => html`<p class="hint">${fact}</p>`)}${
    line.actionrequired &&
    html`<p class="withsign warn">${icon('alert')}${
      line.dueon ? status.actionrequiredby(dayText(page, line.dueon)) : texts.done.action
    }</p>`
  }${line.isunavailable && html`<p class="withsign warn">${icon('alert')}${status.unavailable}</p>`}`
}

function endText(page: Page, on: IsoDate, age: number | undefined): string {
  const { status } = textsOf(page).benefits
  return age === undefined ? status.ending(dayText(page, on)) : status.endingatage(dayText(page, on), age)
}

function waitsText(page: Page, waits: NonNullable<BenefitLine['waits']>): string {
  const words = textsOf(page).beneficiaries
  const by = dayText(page, waits.by)
  if (waits.from === undefined) return words.waitsuntil(by)
  return waits.by <= waits.from ? words.waitsonly(by) : words.waitsfrom(dayText(page, waits.from), by)
}

/** What it costs, in words that stand without a label. */
export function costLine(page: Page, cost: Cost): string {
  const { benefits, coverage } = textsOf(page)
  return cost.kind === 'nothing' ? benefits.free : coverage.price.youpay(costText(page, cost))
}

/** A link to a short path of the page, with its sign. */
export type Path = {
  readonly to: string
  readonly sign: IconName
  readonly text: string
  readonly hint?: string | undefined
}

/** Such links, one below the other; empty when there are none. */
export function pathList(page: Page, paths: readonly Path[]): Slot {
  if (paths.length === 0) return null
  const link = ({ to, sign, text, hint }: Path) =>
    html`<li><a href="${page.root}/${to}"${
      sign === 'alert' && html` class="warn"`
    }>${icon(sign)}<span>${text}${
      hint && html`<span class="hint">${hint}</span>`
    }</span>${icon('arrow')}</a></li>`
  return html`<ul class="paths">${paths.map(link)}</ul>`
}

/** What a member can do, each a link to a short path. */
export function memberPathList(page: Page, paths: MemberPaths): Html {
  const texts = textsOf(page)
  const words = texts.already
  const cancelText = paths.isleaving ? texts.standing.leaving.now.title : words.cancel
  const found: readonly (Path | false | undefined)[] = [
    paths.canadd && { to: 'benefits', sign: 'plus', text: words.add },
    paths.canswap && { to: 'swap', sign: 'swap', text: words.swap },
    paths.canchangeoffer && { to: 'offer', sign: 'plan', text: words.offer },
    paths.canname && { to: 'beneficiaries', sign: 'person', text: texts.beneficiaries.title },
    { to: 'details', sign: 'edit', text: words.details },
    paths.cancancel && { to: 'cancel', sign: 'no', text: cancelText },
  ]
  return html`<section><h2>${words.what}</h2>${pathList(
    page,
    found.filter(path => path !== false && path !== undefined),
  )}</section>`
}

/** What a member has to do, and then what they may still do. */
export function thingsToDo(page: Page, todo: StillToDo | undefined): readonly Path[] {
  if (!todo) return []
  const texts = textsOf(page)
  const words = texts.beneficiaries
  const dated = (found: readonly WaitingName[]) =>
    namesText(
      page,
      found.map(({ displayname, dueon }) =>
        dueon ? words.before(displayname, dayText(page, dueon)) : displayname,
      ),
    )
  const { missing, agree, unnamed, openplaces } = todo
  const naming = (sign: IconName, text: string): Path => ({ to: 'beneficiaries', sign, text })
  return [
    agree.length > 0 && { to: 'benefits', sign: 'alert' as const, text: words.agree(dated(agree)) },
    missing.length > 0 && naming('alert', words.missing(dated(missing))),
    unnamed.length > 0 && naming('person', texts.done.name(namesText(page, unnamed))),
    openplaces > 0 && { to: 'benefits', sign: 'plus' as const, text: texts.done.choose(openplaces) },
  ].filter(path => path !== false)
}

/** The link back to the partner if the address was checked; in the frame, the button that closes it. */
export function leave(page: Page, way: WayOut): Html {
  const texts = textsOf(page)
  const { redirecturl, rank = 'primary', more } = way
  const partner = texts.shell.backto(page.partner.displayname)
  const out =
    page.shell === 'frame'
      ? html`<button type="button" class="${rank}" data-exit>${texts.shell.close}</button>`
      : redirecturl &&
        html`<a class="${rank}" href="${redirecturl}" data-plain rel="noreferrer">${partner}</a>`
  return html`<p class="actions">${out}${more}</p>`
}

type WayOut = {
  readonly redirecturl?: string | undefined
  /** `secondary` when the view has a better next step. */
  readonly rank?: 'primary' | 'secondary'
  readonly more?: Slot
}

/** Tells a member whose benefits are about to end what is no longer possible, with the button that keeps them. */
export function leavingNotice(page: Page, lastday: IsoDate, what: 'swap' | 'offer' | 'all'): Html {
  const words = textsOf(page).standing.leaving
  return html`${notice(words.title(dayText(page, lastday)), words[what])}
<form method="post" action="${page.root}/cancel/undo">${draftField(page)}<p><button
class="primary">${words.keep}</button></p></form>`
}
