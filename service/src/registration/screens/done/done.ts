import type { Instant } from '../../../calendar/calendar.ts'
import { html } from '../../../http/html.ts'
import { readConfirmation } from '../../../membership/records/confirmations.ts'
import { isInForce } from '../../../membership/rules/state.ts'
import { displayNameOf } from '../../../membership/rules/terms.ts'
import { wayBack } from '../../session/session.ts'
import { standingText } from '../../session/shown.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { planName, undoUntil } from '../../steps/ahead.ts'
import { enrolmentLine, lastDayOf, liveLines } from '../../steps/cards.ts'
import { copyAddress } from '../../steps/copies.ts'
import { heldBenefitsOf } from '../../steps/held-benefits.ts'
import type { ConfirmationContent, Made } from '../../steps/made.ts'
import { stillToDo } from '../../steps/member-choices.ts'
import type { Step } from '../../steps/step.ts'
import { copyLink, heldBenefits, totalFacts } from '../../views/coverage.ts'
import { deadlineText, instantText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import type { Content } from '../../views/layout.ts'
import { benefitList, leave, type Path, pathList, thingsToDo } from '../../views/lists.ts'
import type { BenefitLine, HeldBenefit, StillToDo } from '../../views/parts.ts'
import { later, sayIn } from '../../views/say.ts'
import type { ViewOf } from '../../views/surroundings.ts'
import type { LinkEndedView } from '../ended.ts'
import { doneWords, type Needed } from './words.ts'

/** What was done, with its reference. */
export type DoneView = ViewOf<'DONE'> & {
  readonly outcome: 'enrolled' | 'swapped' | 'changed' | 'cancelled' | 'undone'
  readonly reference: string
  readonly completedat: Instant
  /** What was done, and since when it holds; the view's words follow from it. */
  readonly change: Made
  readonly benefits: readonly BenefitLine[]
  /** The benefits in force, and those that ended lately, each with how it is used. */
  readonly held?: readonly HeldBenefit[] | undefined
  /** Until when it can be undone. */
  readonly undountil?: Instant | undefined
  /** The address of the copy of the agreement, if there is one. */
  readonly copyurl?: string | undefined
  readonly todo?: StillToDo | undefined
  /** The view where it can be undone, as long as it can. */
  readonly undo?: 'swap' | 'offer' | 'cancel' | undefined
  /** False when the session is over, so that this is the last view of it. */
  readonly goeson: boolean
  /** The address of the link back; only ever a checked one. */
  readonly redirecturl?: string | undefined
  /** Whether it was shown before, so that the host of the frame has been told of it. */
  readonly istold?: boolean | undefined
}

/**
 * What the session did last, with its reference and dates; a member for whom it no longer holds sees their benefits
 * instead.
 */
export const done: Step<DoneView | LinkEndedView> = {
  show: async (visit, { form }) => {
    const { context, partner, user, session, isMember, isOver } = visit
    const { outcome, reference } = session
    if (outcome === null || outcome === 'challengefailed' || reference === null) return { to: '' }
    const content = await readConfirmation(context.database, { partner, user, reference })
    if (content === undefined) return { to: '' }
    const { at, made, left, copy } = content as ConfirmationContent
    // What has changed since, by somebody else or because its day has come, is on the overview.
    if (left !== standingText(user)) {
      if (isOver) return { view: 'LINK_ENDED', page: pageOf(visit), kind: 'closed' }
      return { to: isMember ? 'overview' : 'details' }
    }
    const undo = undoing(visit, made)
    return {
      view: 'DONE',
      page: pageOf(visit),
      outcome,
      reference,
      completedat: at,
      change: inWords(visit, made),
      benefits: linesAfter(visit, made),
      held: await heldBenefitsOf(visit),
      todo: isMember && !isOver ? stillToDo(visit) : undefined,
      ...undo,
      goeson: isMember && !isOver,
      copyurl: copy && copyAddress(visit, reference),
      redirecturl: wayBack(visit),
      istold: form.has('told'),
    }
  },
}

/** The view where a change that is still planned can be undone, and until when. */
function undoing(visit: Visit, made: Made): Pick<DoneView, 'undo' | 'undountil'> {
  const { swap, pendingOffer } = visit.user
  if (made.what === 'cancelled') return made.timing === 'ahead' ? { undo: 'cancel' } : {}
  const planned = made.what === 'swapped' ? swap : made.what.endsWith('graded') ? pendingOffer : undefined
  const { undountil } = planned ? undoUntil(visit, planned.at) : {}
  return undountil === undefined ? {} : { undountil, undo: made.what === 'swapped' ? 'swap' : 'offer' }
}

/** What was done, with plans and benefits by the names that people know. */
function inWords(visit: Visit, made: Made): Made {
  const { terms, user, locale } = visit
  const named = (names: readonly string[]) => names.map(name => displayNameOf(terms, user, name, locale))
  if ('plan' in made) return { ...made, plan: planName(visit, made.plan) }
  if (made.what === 'reinstated') return { ...made, missing: named(made.missing) }
  return made.what === 'cancelled' ? { ...made, withdrawn: named(made.withdrawn ?? []) } : made
}

/** All benefits, or those that a cancel ends or has ended; nobody pays for what has ended. */
function linesAfter(visit: Visit, made: Made): readonly BenefitLine[] {
  if (made.what !== 'cancelled') return liveLines(visit)
  if (made.timing === 'ahead') return liveLines(visit, isInForce)
  const { cancel, enrolments } = visit.user
  return enrolments
    .filter(one => one.state === 'ended' && one.closeReason === 'cancelled' && one.endsAt === cancel?.at)
    .map(enrolment => {
      const { startson: _, endson: __, cost: ___, ...line } = enrolmentLine(visit, enrolment)
      return { ...line, endedon: lastDayOf(visit, enrolment.endsAt ?? visit.now) }
    })
}

/** What was done, with its reference, what the person can do next, and the benefits with their dates. */
export function drawDone(view: DoneView): Content {
  const { page, outcome, reference, benefits } = view
  const say = sayIn(page)

  const isWhole =
    outcome === 'enrolled' || outcome === 'undone' || (outcome === 'changed' && !('from' in view.change))
  const { title, lead, next } = doneWords(page, view.change, neededIn(view))
  const print =
    page.shell === 'hosted' &&
    html`<button type="button" class="quiet" data-print hidden>${say`Print this page`}</button>`
  return {
    title,
    signals: view.istold ? {} : { outcome },
    body: html`<div class="success"><span class="seal">${icon('check')}</span>
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead}</p>
<p class="reference"><span>${say`Your reference`}</span> <strong>${reference}</strong></p>
<p class="hint">${say`Completed on ${instantText(page, view.completedat)}`}</p></div>
<section><h2>${say`What happens next`}</h2>
${pathList(page, [...thingsToDo(page, view.todo), ...undoPath(view), ...seeing(view)])}
<ul class="plain">${next.map(line => html`<li>${line}</li>`)}</ul></section>
${benefits.length > 0 && html`<section><h2>${say`Your benefits`}</h2>${benefitList(page, benefits)}</section>`}
${heldBenefits(page, view.held)}
${isWhole && totalFacts(page, benefits)}
<p class="keep">${view.copyurl && copyLink(page, { address: view.copyurl, text: say`Save a copy of what you agreed to` })}${print}</p>
${leave(page, { redirecturl: view.redirecturl })}`,
  }
}

/** The way to undo what is still planned, with the time until which it can be done. */
function undoPath({ page, undo, undountil }: DoneView): readonly Path[] {
  if (undo === undefined) return []
  const say = sayIn(page)
  const hint = undountil === undefined ? undefined : say`Until ${deadlineText(page, undountil)}`
  return [{ to: undo, sign: undo === 'cancel' ? 'check' : 'undo', text: say(undoings[undo]), hint }]
}

function seeing({ page, goeson }: DoneView): readonly Path[] {
  const say = sayIn(page)
  return goeson ? [{ to: 'overview', sign: 'list', text: say`See your benefits` }] : []
}

/** Whether a benefit still waits for the person, and whether this view says for what. */
function neededIn({ benefits, todo }: DoneView): Needed {
  const isSaid = todo !== undefined && todo.missing.length + todo.agree.length > 0
  if (benefits.some(line => line.actionrequired)) return isSaid ? 'here' : 'elsewhere'
  return todo === undefined ? 'nothing' : 'choice'
}

const undoings: Readonly<Record<NonNullable<DoneView['undo']>, string>> = {
  swap: later`Undo this swap`,
  offer: later`Undo this change`,
  cancel: later`Keep my benefits`,
}
