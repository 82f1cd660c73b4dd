import { type Html, html } from '../../http/html.ts'
import { namingSection } from './beneficiaries.ts'
import { consentFields } from './consent-fields.ts'
import { coverageSection, totalSection } from './coverage.ts'
import { draftField, form, oneOf, primary, question } from './fields.ts'
import { dayText, deadlineText, namesText } from './format.ts'
import { icon } from './icons.ts'
import { type Content, notice } from './layout.ts'
import { benefitList, shortList } from './lists.ts'
import type { OfferChangeView, OfferConfirmView } from './model.ts'
import type { BenefitLine, OfferChoice } from './parts.ts'
import { totalLines } from './price.ts'
import { leavingNotice } from './standing.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

type Pending = NonNullable<OfferChangeView['pending']>

/** The offers to choose from, with the one in force. */
export function offerChange(view: OfferChangeView): Content {
  const { page, offers, pending, locked, chosen, leaving } = view
  const texts = textsOf(page)
  const words = texts.offer
  const current = offers.find(offer => offer.direction === 'current')
  const others = leaving === undefined ? offers.filter(offer => offer.direction !== 'current') : []
  const open = others.filter(offer => offer.reasons.length === 0)
  const closed = others.filter(offer => offer.reasons.length > 0)
  return question(view, {
    title: words.title,
    asks: open.length > 0,
    back: 'overview',
    body: html`${open.length > 0 && html`<p class="lead">${words.lead}</p>`}
${leaving !== undefined && leavingNotice(page, leaving, 'offer')}
${leaving === undefined && locked && notice(words.locked, words.lockedtext(dayText(page, view.opensagainon)))}
${pending && pendingOffer(page, pending, open.length > 0)}
${current && html`<section class="panel"><h2>${words.current}</h2><p class="name">${current.displayname}</p></section>`}
${
  open.length > 0 &&
  form(view, 'offer', [
    oneOf(view, 'offername', {
      legend: html`<legend class="unseen">${words.title}</legend>`,
      chosen,
      choices: open.map(offer => ({
        value: offer.offer,
        label: html`<strong>${offer.displayname}</strong><span class="hint">${offerText(page, offer)}</span>`,
        ...(offer.outlook ? { card: outlook(page, offer.outlook) } : {}),
      })),
    }),
    primary(texts.shell.continue),
  ])
}
${closed.map(
  offer =>
    html`<section class="panel quietly"><h2>${offer.displayname}</h2><div class="status plain">${icon('no')}<div><p>${words.cannot}</p>${offer.reasons.map(
      reason => html`<p class="hint">${reason}</p>`,
    )}</div></div></section>`,
)}`,
  })
}

/** What the change gives, takes and keeps. */
export function offerConfirm(view: OfferConfirmView): Content {
  const { page, from, to, consents, undountil, swapped = [] } = view
  const texts = textsOf(page)
  const words = texts.offer
  const answers = { page, errors: view.errors }
  const list = (heading: string, lines: readonly BenefitLine[]) =>
    html`<section><h2>${heading}</h2>${
      lines.length > 0 ? benefitList(page, lines) : html`<p class="hint">${words.nothing}</p>`
    }</section>`
  return question(answers, {
    title: words.confirmtitle,
    back: 'offer',
    body: html`<p class="lead">${words.confirmlead(
      from,
      to.displayname,
      to.effectiveon ? dayText(page, to.effectiveon) : '',
    )}</p>
${list(words.gained, view.gained)}
${list(words.lost, view.lost)}
${list(words.kept, view.kept)}
${swapped.length > 0 && list(texts.swap.pending, swapped)}
${view.dropsswap && html`<p class="withsign">${icon('alert')}${texts.standing.dropsswap}</p>`}
${totalSection(page, [...view.gained, ...view.kept, ...swapped])}
${coverageSection(page, view.gained)}
${
  undountil !== undefined &&
  html`<p class="withsign">${icon('clock')}${words.undountil(deadlineText(page, undountil))}</p>`
}
${namingSection(page, view.naming)}
${form(answers, 'offer/confirm', [
  html`<input type="hidden" name="offername" value="${to.offer}"><input type="hidden" name="previewid" value="${view.previewid}">`,
  consentFields(answers, consents),
  primary(words.button),
])}`,
  })
}

/** The planned change: what it gives and takes, and what comes back, with the total, if it is undone. */
function pendingOffer(page: Page, pending: Pending, isOpen: boolean): Html {
  const texts = textsOf(page)
  const words = texts.offer
  const { gained, lost, undo } = pending
  const list = (heading: string, lines: readonly BenefitLine[]) =>
    lines.length > 0 && html`<h3>${heading}</h3>${shortList(page, lines)}`
  const title = words[pending.iscalledoff ? 'calledoff' : 'pending']
  return html`<section class="panel"><h2>${title(pending.displayname, dayText(page, pending.effectiveon))}</h2>
${isOpen && html`<p>${words.pendingtext}</p>`}
${list(words.gained, gained)}
${list(words.lost, lost)}
${
  undo &&
  html`<h3>${words.undoing}</h3>
${
  undo.undountil !== undefined &&
  html`<p class="withsign">${icon('clock')}${words.undountil(deadlineText(page, undo.undountil))}</p>`
}
${undo.restored.length > 0 && html`<h4>${words.kept}</h4>${shortList(page, undo.restored)}`}
${undo.dropsswap && html`<p class="withsign">${icon('alert')}${texts.standing.dropsswap}</p>`}
<h4>${texts.coverage.price.total}</h4>${totalLines(page, undo.benefits).map(line => html`<p class="hint">${line}</p>`)}
<form method="post" action="${page.root}/offer/undo">${draftField(page)}<p><button class="secondary">${words.undo}</button></p></form>`
}</section>`
}

/** What is gained, lost and kept with a plan, and the total then. */
function outlook(page: Page, { gained, lost, kept, benefits }: NonNullable<OfferChoice['outlook']>): Html {
  const texts = textsOf(page)
  const words = texts.offer
  const row = (label: string, names: readonly string[]) =>
    names.length > 0 && html`<div><dt>${label}</dt><dd>${namesText(page, names)}</dd></div>`
  return html`<dl class="known">${row(
    words.gained,
    gained,
  )}${row(words.lost, lost)}${row(words.kept, kept)}<div><dt>${texts.coverage.price.total}</dt><dd>${totalLines(
    page,
    benefits,
  ).map(line => html`<p>${line}</p>`)}</dd></div></dl>`
}

function offerText(page: Page, offer: OfferChoice): string {
  const { offer: words, swap } = textsOf(page)
  const direction = offer.direction === 'upgrade' ? words.more : words.fewer
  return offer.effectiveon ? `${direction}. ${swap.from(dayText(page, offer.effectiveon))}` : direction
}
