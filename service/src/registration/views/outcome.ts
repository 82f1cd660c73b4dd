import { type Html, html, type Slot } from '../../http/html.ts'
import { copyLink, copyList, totalFacts } from './coverage.ts'
import { doneWords, type Needed } from './done-words.ts'
import { dayText, deadlineText, instantText, namesText } from './format.ts'
import { heldBenefits } from './held-benefit.ts'
import { emblem, type IconName, icon } from './icons.ts'
import type { Content } from './layout.ts'
import { benefitList, memberPaths, type Path, pathList } from './lists.ts'
import type { AlreadyEnrolledView, DoneView, LinkEndedView, NoBenefitsView, ProblemView } from './model.ts'
import type { StillToDo, WaitingName } from './parts.ts'
import { ineligibleNotice, leavingNotice, plannedNotices } from './standing.ts'
import type { Page } from './surroundings.ts'
import { textsOf } from './texts.ts'

/** What was done, with its reference, what the person can do next, and the benefits with their dates. */
export function done(view: DoneView): Content {
  const { page, outcome, reference, benefits } = view
  const texts = textsOf(page)
  const words = texts.done
  const isWhole =
    outcome === 'enrolled' || outcome === 'undone' || (outcome === 'changed' && !('from' in view.change))
  const { title, lead, next } = doneWords(page, view.change, neededIn(view))
  const print =
    page.shell === 'hosted' &&
    html`<button type="button" class="quiet" data-print hidden>${texts.shell.print}</button>`
  return {
    title,
    signals: view.istold ? {} : { outcome },
    body: html`<div class="success"><span class="seal">${icon('check')}</span>
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead}</p>
<p class="reference"><span>${words.reference}</span> <strong>${reference}</strong></p>
<p class="hint">${words.completed(instantText(page, view.completedat))}</p></div>
<section><h2>${words.next}</h2>
${pathList(page, [...thingsToDo(page, view.todo), ...undoing(view), ...seeing(view)])}
<ul class="plain">${next.map(line => html`<li>${line}</li>`)}</ul></section>
${benefits.length > 0 && html`<section><h2>${texts.already.title}</h2>${benefitList(page, benefits)}</section>`}
${heldBenefits(page, view.held)}
${isWhole && totalFacts(page, benefits)}
<p class="keep">${view.copyurl && copyLink(page, { address: view.copyurl, text: texts.coverage.copy.link })}${print}</p>
${leave(page, { redirecturl: view.redirecturl })}`,
  }
}

/** The way to undo what is still planned, with the time until which it can be done. */
function undoing({ page, undo, undountil }: DoneView): readonly Path[] {
  if (undo === undefined) return []
  const words = textsOf(page).done
  const hint = undountil === undefined ? undefined : words.until(deadlineText(page, undountil))
  return [{ to: undo, sign: undo === 'cancel' ? 'check' : 'undo', text: words.undo[undo], hint }]
}

function seeing({ page, goeson }: DoneView): readonly Path[] {
  return goeson ? [{ to: 'overview', sign: 'list', text: textsOf(page).done.see }] : []
}

/** The person is already enrolled: the benefits in force, and links to what can be done. */
export function alreadyEnrolled(view: AlreadyEnrolledView): Content {
  const { page } = view
  const texts = textsOf(page)
  const words = texts.already
  return {
    title: words.title,
    body: html`<h1 tabindex="-1">${words.title}</h1>
<p class="lead">${view.benefits.length > 0 ? words.plan(view.offername) : texts.standing.nothing(view.offername)}</p>
${totalFacts(page, view.benefits)}
${
  view.suggested.length > 0 &&
  html`<p class="notice info">${icon('info')}<span>${texts.standing.newer(
    page.partner.displayname,
    namesText(
      page,
      view.suggested.map(group => texts.group[group]),
    ),
    words.details,
  )}</span></p>`
}
${pathList(page, thingsToDo(page, view.todo))}
${view.leaving !== undefined && leavingNotice(page, view.leaving, 'all')}
${plannedNotices(page, view.planned)}
${ineligibleNotice(
  page,
  view.ineligible && { offername: view.offername, isLeaving: view.leaving !== undefined, ...view.ineligible },
)}
${view.benefits.length > 0 && benefitList(page, view.benefits)}
${heldBenefits(page, view.held)}
${memberPaths(page, view.paths)}
${copyList(page, view.copies)}
${leave(page, { redirecturl: view.redirecturl })}`,
  }
}

/** No benefit fits: why, which data is kept, and how to correct wrong data. */
export function noBenefits(view: NoBenefitsView): Content {
  const { page, reasons } = view
  const words = textsOf(page).none
  // Without a reason no rule keeps this person out; no plan is open.
  const isClosed = reasons.length === 0
  const title = isClosed ? words.closed : words.title
  return {
    title,
    body: html`${emblem('info')}
<h1 tabindex="-1">${title}</h1>
${
  isClosed
    ? html`<p class="lead">${words.closedkept}</p>`
    : html`<p class="lead">${words.lead}</p>
<section><h2>${words.why}</h2><ul class="plain">${reasons.map(reason => html`<li>${reason}</li>`)}</ul></section>
<p>${words.kept}</p>
<p class="actions"><a class="primary" href="${page.root}/details">${words.button}</a></p>`
}
${leave(page, { redirecturl: view.redirecturl, rank: isClosed ? 'primary' : 'secondary' })}`,
  }
}

/** The link or session has ended: a link's words are the same whether it was used, expired or unknown. */
export function linkEnded(view: LinkEndedView): Content {
  const { page, kind } = view
  const texts = textsOf(page)
  const words = texts.ended
  const isChallenge = kind === 'challenge' || kind === 'challengelimit'
  const { title, text } = words[isChallenge ? 'challenge' : kind]
  const partner = page.partner.displayname
  // Without a cookie nothing tells a browser that blocks them from one that never opened a link.
  const isUnknown = kind === 'closed' && page.shell === 'hosted' && partner === ''
  const isRenewable = page.shell === 'frame' && kind !== 'link'
  return {
    title,
    kind,
    signals: { ended: kind === 'link' ? 'link' : 'session' },
    body: html`${emblem(isChallenge ? 'alert' : kind === 'signedout' ? 'check' : 'clock')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${text}</p>
${!isChallenge && kind !== 'closed' && html`<p>${words.kept}</p>`}
<section class="panel"><h2>${words.what}</h2>${
      isChallenge
        ? html`<p>${
            kind === 'challenge' ? words.challengenew(partner) : words.challengelimit(partner)
          }</p><p>${words.challengewrong(partner)}</p>`
        : html`<p>${partner ? words.again(partner) : words.againunknown}</p><p>${
            partner ? words.sent(partner) : words.sentunknown
          }</p>${isUnknown && html`<p>${words.cookies}</p>`}`
    }</section>
${leave(page, {
  redirecturl: view.redirecturl,
  more:
    isRenewable && html`<button type="button" class="secondary" data-renew>${texts.ended.resume}</button>`,
})}`,
  }
}

/** Something failed: what is kept, how to go on, and the request id to read out. */
export function problem(view: ProblemView): Content {
  const { page, kind, requestid, retry } = view
  const texts = textsOf(page)
  const words = texts.problem
  const isOurs = kind === 'internal' || kind === 'busy'
  const [title, text] = {
    internal: [words.title, words.text],
    notfound: [words.notfoundtitle, words.notfoundtext],
    busy: [words.busytitle, words.busytext],
    foreign: [words.foreigntitle, words.foreigntext],
    unreadable: [words.unreadabletitle, words.unreadabletext],
  }[kind]
  return {
    title: title ?? '',
    ...(isOurs ? { signals: { error: 'INTERNAL' } } : {}),
    body: html`${emblem('alert')}
<h1 tabindex="-1">${title}</h1>
<p class="lead">${text}</p>
${
  retry &&
  html`<p class="actions"><a class="primary" href="${retry}">${isOurs ? texts.shell.tryagain : texts.open.button}</a></p>`
}
<p class="hint">${words.request}</p><p><code class="requestid">${requestid}</code></p>
${leave(page, retry ? { rank: 'secondary' } : {})}`,
  }
}

/** Whether a benefit still waits for the person, and whether this view says for what. */
function neededIn({ benefits, todo }: DoneView): Needed {
  const isSaid = todo !== undefined && todo.missing.length + todo.agree.length > 0
  if (benefits.some(line => line.actionrequired)) return isSaid ? 'here' : 'elsewhere'
  return todo === undefined ? 'nothing' : 'choice'
}

/** What a member has to do, and then what they may still do. */
function thingsToDo(page: Page, todo: StillToDo | undefined): readonly Path[] {
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
function leave(page: Page, way: WayOut): Html {
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
