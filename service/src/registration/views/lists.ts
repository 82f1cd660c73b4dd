import { type Html, html, type Slot } from '../../http/html.ts'
import { coverLines } from './cover.ts'
import { draftField } from './fields.ts'
import { costText, dayText, namesText } from './format.ts'
import { type IconName, icon } from './icons.ts'
import { notice } from './layout.ts'
import type { BenefitLine, Cost, IsoDate, MemberPaths, StillToDo, WaitingName } from './parts.ts'
import { type Say, sayIn } from './say.ts'
import type { Page } from './surroundings.ts'

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
  const say = sayIn(page)

  const facts = [
    line.startson && say`Starts on ${dayText(page, line.startson)}`,
    line.waits && waitsText(page, line.waits),
    line.since && say`Coverage began on ${dayText(page, line.since)}`,
    line.endson && endText(page, line.endson, line.endsatage),
    line.endedon && say`Ended on ${dayText(page, line.endedon)}`,
    line.cost?.kind === 'amount' && costLine(page, line.cost),
    ...(line.endedon ? [] : coverLines(page, line)),
  ].filter(fact => fact)
  return html`<p class="name">${line.displayname}</p>${facts.map(fact => html`<p class="hint">${fact}</p>`)}${
    line.actionrequired &&
    html`<p class="withsign warn">${icon('alert')}${
      line.dueon
        ? say`Needs something from you before ${dayText(page, line.dueon)}, or it will not start`
        : say`Something is still needed from you before this starts`
    }</p>`
  }${line.isunavailable && html`<p class="withsign warn">${icon('alert')}${say`You cannot get this now`}</p>`}`
}

function endText(page: Page, on: IsoDate, age: number | undefined): string {
  const say = sayIn(page)

  return age === undefined
    ? say`Ends on ${dayText(page, on)}`
    : say`Ends on ${dayText(page, on)}, after you turn ${age}`
}

function waitsText(page: Page, waits: NonNullable<BenefitLine['waits']>): string {
  const say = sayIn(page)

  const by = dayText(page, waits.by)
  if (waits.from === undefined)
    return say`Starts when you have named someone. If you have not before ${by}, you will not get this benefit.`
  return waits.by <= waits.from
    ? say`Starts on ${by}, if you have named someone before that day. If not, you will not get this benefit.`
    : say`Starts on ${dayText(page, waits.from)}, or when you have named someone, if that is later. If you have not before ${by}, you will not get this benefit.`
}

/** What it costs, in words that stand without a label. */
export function costLine(page: Page, cost: Extract<Cost, { kind: 'amount' }>): string {
  const say = sayIn(page)
  return say`You pay ${costText(page, cost)}`
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
  const say = sayIn(page)

  const cancelText = paths.isleaving ? say`End your benefits now` : say`Cancel your benefits`
  const found: readonly (Path | false | undefined)[] = [
    paths.canadd && { to: 'benefits', sign: 'plus', text: say`Add a benefit` },
    paths.canswap && { to: 'swap', sign: 'swap', text: say`Swap a benefit` },
    paths.canchangeoffer && { to: 'offer', sign: 'plan', text: say`Change your plan` },
    paths.canname && { to: 'beneficiaries', sign: 'person', text: say`Your beneficiaries` },
    ...(paths.covers ?? []).map(
      ({ name, displayname }): Path => ({
        to: `cover/${name}`,
        sign: 'person',
        text: say`Change who ${displayname} covers`,
      }),
    ),
    { to: 'details', sign: 'edit', text: say`Check your details` },
    paths.cancancel && { to: 'cancel', sign: 'no', text: cancelText },
  ]
  return html`<section><h2>${say`What you can do`}</h2>${pathList(
    page,
    found.filter(path => path !== false && path !== undefined),
  )}</section>`
}

/** What a member has to do, and then what they may still do. */
export function thingsToDo(page: Page, todo: StillToDo | undefined): readonly Path[] {
  if (!todo) return []
  const say = sayIn(page)

  const dated = (found: readonly WaitingName[]) =>
    namesText(
      page,
      found.map(({ displayname, dueon }) =>
        dueon ? say`${displayname} (before ${dayText(page, dueon)})` : displayname,
      ),
    )
  const { missing, agree, unnamed, openplaces } = todo
  const naming = (sign: IconName, text: string): Path => ({ to: 'beneficiaries', sign, text })
  return [
    agree.length > 0 && {
      to: 'benefits',
      sign: 'alert' as const,
      text: say`Agree to the terms of ${dated(agree)}.`,
    },
    missing.length > 0 && naming('alert', say`Name your beneficiaries for ${dated(missing)}.`),
    unnamed.length > 0 && naming('person', say`Name who receives the money: ${namesText(page, unnamed)}`),
    openplaces > 0 && {
      to: 'benefits',
      sign: 'plus' as const,
      text: openplaces === 1 ? say`Choose 1 more benefit` : say`Choose up to ${openplaces} more benefits`,
    },
  ].filter(path => path !== false)
}

/** The link back to the partner if the address was checked; in the frame, the button that closes it. */
export function leave(page: Page, way: WayOut): Html {
  const say = sayIn(page)

  const { redirecturl, rank = 'primary', more } = way
  const partner = say`Back to ${page.partner.displayname}`
  const out =
    page.shell === 'frame'
      ? html`<button type="button" class="${rank}" data-exit>${say`Close`}</button>`
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
  const say = sayIn(page)
  return html`${notice(say`Your benefits end on ${dayText(page, lastday)}`, leaving[what](say))}
<form method="post" action="${page.root}/cancel/undo">${draftField(page)}<p><button
class="primary">${say`Keep my benefits`}</button></p></form>`
}

const leaving: Readonly<Record<'swap' | 'offer' | 'all', (say: Say) => string>> = {
  swap: say => say`You can swap a benefit only if you keep them.`,
  offer: say => say`You can change your plan only if you keep them.`,
  all: say => say`You can still keep them.`,
}
