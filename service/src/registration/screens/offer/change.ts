import type { Benefit } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import { isBoundaryLocked, nextBoundary } from '../../../membership/rules/boundary.ts'
import { hasPendingCancel } from '../../../membership/rules/state.ts'
import { displayNameOf, offerOf } from '../../../membership/rules/terms.ts'
import { undoOfferChangeOf } from '../../../offers/change.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { comingBySwap, visitAfter } from '../../steps/ahead.ts'
import { leavingOn, lineOf, localDay } from '../../steps/cards.ts'
import { changeAndConfirm } from '../../steps/outcomes.ts'
import { parseOneOf } from '../../steps/posted.ts'
import type { Step } from '../../steps/step.ts'
import { type Asking, isFaulty } from '../../views/faults.ts'
import { draftField, form, oneOf, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText, namesText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { type Content, notice } from '../../views/layout.ts'
import { leavingNotice, shortList } from '../../views/lists.ts'
import type { BenefitLine, IsoDate } from '../../views/parts.ts'
import { totalLines } from '../../views/price.ts'
import { sayIn } from '../../views/say.ts'
import type { Page, ViewOf } from '../../views/surroundings.ts'
import {
  addressOf,
  heldLines,
  type OfferChoice,
  offerChoices,
  openOffers,
  type PendingMove,
  pendingMove,
  proposed,
} from './choices.ts'

/** The offers to choose from. */
export type OfferChangeView = ViewOf<'OFFER_CHANGE'> &
  Asking & {
    readonly offers: readonly OfferChoice[]
    readonly chosen?: string | undefined
    readonly pending?: PendingMove | undefined
    readonly locked: boolean
    /** The first day on which another change can be planned, after this month's changes are closed. */
    readonly opensagainon: IsoDate
    /** The last day of all benefits, if they are about to end: the plan cannot be changed then. */
    readonly leaving?: IsoDate | undefined
  }

/** The offers to move to, with the one in force and the pending change. */
export const offer: Step<OfferChangeView> = {
  show: (visit, typed) => {
    const { user, terms, now } = visit
    const current = offerOf(terms, user)
    if (!visit.isMember || !current) return { to: 'overview' }
    const boundary = nextBoundary(user, now, terms)
    const wanted = visit.session.offername ?? undefined
    const chosen = typed.posted ? (typed.posted.get('offername') ?? '') : wanted
    return {
      view: 'OFFER_CHANGE',
      page: pageOf(visit),
      offers: offerChoices(visit).map(choice => withDifference(visit, choice)),
      chosen,
      pending: pendingMove(visit),
      locked: isBoundaryLocked(user, boundary, { now, terms }),
      opensagainon: localDay(visit, boundary),
      leaving: leavingOn(visit),
    }
  },
  post: (visit, form) => {
    if (!visit.isMember) return { to: 'overview' }
    if (hasPendingCancel(visit.user)) return { to: 'offer' }
    const open = openOffers(visit).map(one => one.offer)
    const chosen = parseOneOf(form, { input: 'offername', code: 'offer_missing' }, open)
    return isFaulty(chosen) ? chosen : { to: addressOf(chosen) }
  },
}

/** Undoes a pending change. */
export const offerUndo: Step<never> = {
  show: () => ({ to: 'offer' }),
  post: (visit, form) =>
    changeAndConfirm(
      visit,
      'undone',
      {
        why: 'offer change undone',
        form,
        decide: ({ user, now, terms }) =>
          user.pendingOffer ? undoOfferChangeOf(user, now, terms()) : 'unchanged',
      },
      'conflict',
    ),
}

/** The offer with what would change by it, if the person can change to it. */
function withDifference(visit: Visit, choice: OfferChoice): OfferChoice {
  const found = proposed(visit, new URLSearchParams({ offername: choice.offer }))
  if (!found) return choice
  const { changed } = found
  const names = (from: readonly string[]) =>
    from.map(name => displayNameOf(visit.terms, changed.user, name, visit.locale))
  const after = visitAfter(visit, changed)
  const difference = {
    gained: names(changed.gained),
    lost: names(changed.lost),
    kept: names(changed.kept),
    benefits: [...linesOf(visit, found.gained), ...heldLines(after, changed.kept), ...comingBySwap(after)],
  }
  return { ...choice, difference }
}

function linesOf(visit: Visit, benefits: readonly Benefit[]): BenefitLine[] {
  return benefits.map(benefit => lineOf(visit, benefit, visit.now))
}

/** The offers to choose from, with the one in force. */
export function drawOfferChange(view: OfferChangeView): Content {
  const { page, offers, pending, locked, chosen, leaving } = view

  const say = sayIn(page)

  const current = offers.find(offer => offer.direction === 'current')
  const others = leaving === undefined ? offers.filter(offer => offer.direction !== 'current') : []
  const open = others.filter(offer => offer.reasons.length === 0)
  const closed = others.filter(offer => offer.reasons.length > 0)
  return question(view, {
    title: say`Change your plan`,
    asks: open.length > 0,
    back: 'overview',
    body: html`${open.length > 0 && html`<p class="lead">${say`Choose the plan you want. We show what changes before anything happens.`}</p>`}
${leaving !== undefined && leavingNotice(page, leaving, 'offer')}
${leaving === undefined && locked && notice(say`Changes for next month are closed`, say`You can plan another change from ${dayText(page, view.opensagainon)}.`)}
${pending && pendingOffer(page, pending, open.length > 0)}
${current && html`<section class="panel"><h2>${say`Your plan now`}</h2><p class="name">${current.displayname}</p></section>`}
${
  open.length > 0 &&
  form(view, 'offer', [
    oneOf(view, 'offername', {
      legend: html`<legend class="unseen">${say`Change your plan`}</legend>`,
      chosen,
      choices: open.map(offer => ({
        value: offer.offer,
        label: html`<strong>${offer.displayname}</strong><span class="hint">${offerText(page, offer)}</span>`,
        ...(offer.difference ? { card: difference(page, offer.difference) } : {}),
      })),
    }),
    primary(say`Continue`),
  ])
}
${closed.map(
  offer =>
    html`<section class="panel quietly"><h2>${offer.displayname}</h2>
<div class="status plain">${icon('no')}<div><p>${say`Not available to you:`}</p>${offer.reasons.map(
      reason => html`<p class="hint">${reason}</p>`,
    )}</div></div></section>`,
)}`,
  })
}

/** The pending change: what it gives and takes, and what comes back, with the total, if it is undone. */
function pendingOffer(page: Page, pending: PendingMove, isOpen: boolean): Html {
  const say = sayIn(page)
  const { gained, lost, undo } = pending
  const list = (heading: string, lines: readonly BenefitLine[]) =>
    lines.length > 0 && html`<h3>${heading}</h3>${shortList(page, lines)}`
  const [name, on] = [pending.displayname, dayText(page, pending.effectiveon)]
  const title = pending.iscalledoff
    ? say`As things are now, you will not move to ${name} on ${on}`
    : say`You move to ${name} on ${on}`
  return html`<section class="panel"><h2>${title}</h2>
${isOpen && html`<p>${say`A new choice replaces this change.`}</p>`}
${list(say`You gain`, gained)}
${list(say`You lose`, lost)}
${
  undo &&
  html`<h3>${say`If you undo it`}</h3>
${
  undo.undountil !== undefined &&
  html`<p class="withsign">${icon('clock')}${say`You can undo this until ${deadlineText(page, undo.undountil)}.`}</p>`
}
${undo.restored.length > 0 && html`<h4>${say`You keep`}</h4>${shortList(page, undo.restored)}`}
${undo.dropsswap && html`<p class="withsign">${icon('alert')}${say`The swap that you had planned will not happen.`}</p>`}
<h4>${say`Your total`}</h4>${totalLines(page, undo.benefits).map(line => html`<p class="hint">${line}</p>`)}
<form method="post" action="${page.root}/offer/undo">${draftField(page)}<p><button
class="secondary">${say`Undo this change`}</button></p></form>`
}</section>`
}

/** What is gained, lost and kept with a plan, and the total then. */
function difference(
  page: Page,
  { gained, lost, kept, benefits }: NonNullable<OfferChoice['difference']>,
): Html {
  const say = sayIn(page)

  const row = (label: string, names: readonly string[]) =>
    names.length > 0 && html`<div><dt>${label}</dt><dd>${namesText(page, names)}</dd></div>`
  return html`<dl class="known">${row(
    say`You gain`,
    gained,
  )}${row(say`You lose`, lost)}${row(say`You keep`, kept)}<div><dt>${say`Your total`}</dt><dd>${totalLines(
    page,
    benefits,
  ).map(line => html`<p>${line}</p>`)}</dd></div></dl>`
}

function offerText(page: Page, offer: OfferChoice): string {
  const say = sayIn(page)

  const direction = offer.direction === 'upgrade' ? say`More benefits` : say`Fewer benefits`
  return offer.effectiveon ? `${direction}. ${say`From ${dayText(page, offer.effectiveon)}`}` : direction
}
