import { costText, dayText } from './format.ts'
import { type Html, html } from './html.ts'
import { icon } from './icons.ts'
import type { BenefitLine, MemberPaths } from './parts.ts'
import type { Page } from './surroundings.ts'
import type { Texts } from './texts.ts'

/** A short list of benefits, each with when it starts or ends and what it costs. */
export function benefitList(page: Page, texts: Texts, lines: readonly BenefitLine[]): Html {
  return html`<ul class="lines">${lines.map(line => html`<li>${benefitLine(page, texts, line)}</li>`)}</ul>`
}

/** One benefit with its icon, name and dates. */
export function benefitLine(page: Page, texts: Texts, line: BenefitLine): Html {
  const facts = [
    line.startson && texts.check.starts(dayText(page.locale, line.startson)),
    line.since && texts.benefits.status.enrolled(dayText(page.locale, line.since)),
    line.endson && texts.done.ends(dayText(page.locale, line.endson)),
    line.cost && `${texts.benefits.costs}: ${costText(texts, page.locale, line.cost)}`,
  ].filter(fact => fact)
  return html`<img src="${line.iconurl}" alt="" width="40" height="40"><div><p class="name">${line.displayname}</p>${facts.map(fact => html`<p class="hint">${fact}</p>`)}${line.actionrequired && html`<p class="withsign warn">${icon('alert')}${texts.done.action}</p>`}</div>`
}

/** What a member can do, each a link to a short path. */
export function memberPaths(page: Page, texts: Texts, paths: MemberPaths): Html {
  const words = texts.already
  const path = (to: string, text: string) =>
    html`<li><a href="${page.root}/${to}">${text}${icon('arrow')}</a></li>`
  return html`<section><h2>${words.what}</h2><ul class="paths">
${paths.canadd && path('benefits', words.add)}
${paths.canswap && path('swap', words.swap)}
${paths.canchangeoffer && path('offer', words.offer)}
${paths.cancancel && path('cancel', words.cancel)}
${path('details', words.details)}</ul></section>`
}
