import { html } from '../../http/html.ts'
import { readConfirmation } from '../../membership/records/confirmations.ts'
import { heldEnrolment, isInForce } from '../../membership/rules/state.ts'
import { displayNameOf } from '../../membership/rules/terms.ts'
import { standingText } from '../session/person.ts'
import { wayBack } from '../session/session.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { planName, undoUntil } from '../steps/ahead.ts'
import { enrolmentLine, lastDayOf, liveLines } from '../steps/cards.ts'
import { type ConfirmationContent, copyAddress } from '../steps/copies.ts'
import { heldBenefitsOf } from '../steps/held-benefits.ts'
import type { Made } from '../steps/made.ts'
import { stillToDo } from '../steps/member-choices.ts'
import type { Step } from '../steps/step.ts'
import { copyLink, heldBenefits, totalFacts } from '../views/coverage.ts'
import { dayText, deadlineText, instantText, namesText } from '../views/format.ts'
import { icon } from '../views/icons.ts'
import { benefitList, leave, type Path, pathList, thingsToDo } from '../views/lists.ts'
import type { BenefitLine, StillToDo } from '../views/parts.ts'
import { sayIn } from '../views/say.ts'
import type { Page } from '../views/surroundings.ts'
import { endedOn } from './ended.ts'

/**
 * What the session did last, with its reference and dates, what the person can do next, and the benefits with their dates; a
 * member for whom it no longer holds sees their benefits instead.
 */
export const done: Step = {
  show: async (visit, { form }) => {
    const { context, partner, user, session, isMember, isOver } = visit
    const { outcome, reference } = session
    if (outcome === null || outcome === 'challengefailed' || reference === null) return { to: '' }
    const content = await readConfirmation(context.database, { partner, user, reference })
    if (content === undefined) return { to: '' }
    const { at, made, left, copy } = content as ConfirmationContent
    const page = pageOf(visit)
    // What has changed since, by somebody else or because its day has come, is on the overview.
    if (left !== standingText(user))
      return isOver ? endedOn(page, 'closed') : { to: isMember ? 'overview' : 'details' }
    const say = sayIn(page)
    const goesOn = isMember && !isOver
    const todo = goesOn ? stillToDo(visit) : undefined
    const benefits = linesAfter(visit, made)
    const isWhole =
      outcome === 'enrolled' || outcome === 'undone' || (outcome === 'changed' && !('from' in made))
    const { title, lead, next } = doneWords(page, inWords(visit, made), neededIn(benefits, todo))
    const paths: readonly Path[] = [
      ...thingsToDo(page, todo),
      ...undoPath(page, visit, made),
      ...(goesOn ? [{ to: 'overview', sign: 'list' as const, text: say`See your benefits` }] : []),
    ]
    const print =
      page.shell === 'hosted' &&
      html`<button type="button" class="quiet" data-print hidden>${say`Print this page`}</button>`
    const kept = { address: copyAddress(visit, reference), text: say`Save a copy of what you agreed to` }
    const body = html`<div class="success"><span class="seal">${icon('check')}</span>
<h1 tabindex="-1">${title}</h1>
<p class="lead">${lead}</p>
<p class="reference"><span>${say`Your reference`}</span> <strong>${reference}</strong></p>
<p class="hint">${say`Completed on ${instantText(page, at)}`}</p></div>
<section><h2>${say`What happens next`}</h2>
${pathList(page, paths)}
<ul class="plain">${next.map(line => html`<li>${line}</li>`)}</ul></section>
${benefits.length > 0 && html`<section><h2>${say`Your benefits`}</h2>${benefitList(page, benefits)}</section>`}
${heldBenefits(page, await heldBenefitsOf(visit))}
${isWhole && totalFacts(page, benefits)}
<p class="keep">${copy && copyLink(page, kept)}${print}</p>
${leave(page, { redirecturl: wayBack(visit) })}`
    // The host of the frame is told of it once.
    const signals = form.has('told') ? {} : { outcome }
    return { view: 'DONE', page, content: { title, signals, body } }
  },
}

/** The way to undo a change that is still planned, with the time until which it can be undone. */
function undoPath(page: Page, visit: Visit, made: Made): readonly Path[] {
  const { swap, pendingOffer } = visit.user
  const say = sayIn(page)
  if (made.what === 'cancelled')
    return made.timing === 'ahead' ? [{ to: 'cancel', sign: 'check', text: say`Keep your benefits` }] : []
  const changed = made.what === 'covers' ? heldEnrolment(visit.user, made.benefit)?.pendingCover : undefined
  if (made.what === 'covers' && changed) {
    const { undountil: until } = undoUntil(visit, changed.at)
    const hint = until === undefined ? undefined : say`Until ${deadlineText(page, until)}`
    return [{ to: `cover/${made.benefit}`, sign: 'undo', text: say`Undo this change`, hint }]
  }
  const isSwap = made.what === 'swapped'
  const planned = isSwap ? swap : made.what.endsWith('graded') ? pendingOffer : undefined
  const { undountil } = planned ? undoUntil(visit, planned.at) : {}
  if (undountil === undefined) return []
  const hint = say`Until ${deadlineText(page, undountil)}`
  return isSwap
    ? [{ to: 'swap', sign: 'undo', text: say`Undo this swap`, hint }]
    : [{ to: 'offer', sign: 'undo', text: say`Undo this change`, hint }]
}

/** What was done, with plans and benefits by the names that people know. */
function inWords(visit: Visit, made: Made): Made {
  const { terms, user, locale } = visit
  const named = (names: readonly string[]) => names.map(name => displayNameOf(terms, user, name, locale))
  if (made.what === 'covers') return { ...made, benefit: named([made.benefit]).join() }
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

/** Whether a benefit still waits for the person, and whether this view says for what. */
function neededIn(benefits: readonly BenefitLine[], todo: StillToDo | undefined): Needed {
  const isSaid = todo !== undefined && todo.missing.length + todo.agree.length > 0
  if (benefits.some(line => line.actionrequired)) return isSaid ? 'here' : 'elsewhere'
  return todo === undefined ? 'nothing' : 'choice'
}

/**
 * Whether something is still needed from the person: the view itself says what (`here`), or does not know
 * (`elsewhere`); `choice`: nothing, but there is something that they may still do.
 */
type Needed = 'nothing' | 'choice' | 'here' | 'elsewhere'

/** What was done: `rest` says that there is nothing to do, `next` what else there is to know, `itself` what happens by itself. */
type Said = {
  readonly title: string
  readonly lead: string
  readonly rest?: string
  readonly itself?: string
  readonly next?: readonly (string | false | undefined)[]
}

/**
 * The heading, the sentence and the next steps for what was done. While something is still needed from the person, no step
 * says that there is nothing to do.
 */
function doneWords(page: Page, made: Made, needed: Needed) {
  const say = sayIn(page)
  const { title, lead, rest, itself, next = [] } = saidOf(page, made)
  const { phone } = page.help
  const lines = [
    needed === 'elsewhere' &&
      say`Something is still needed from you. Ask ${page.partner.displayname} what it is.`,
    ...next,
    needed === 'nothing' && rest,
    (needed === 'nothing' || needed === 'choice') && itself,
    phone
      ? say`Keep your reference. You need it if you call ${phone}.`
      : say`Keep your reference for your records.`,
  ]
  return { title, lead, next: lines.filter(line => typeof line === 'string') }
}

function saidOf(page: Page, made: Made): Said {
  const say = sayIn(page)
  const on = 'from' in made && made.from !== undefined ? dayText(page, made.from) : undefined
  const rest = on
    ? say`You do not have to do anything until then.`
    : say`You do not have to do anything else.`
  const notbefore = say`There is no coverage before that day.`
  const staysdropped =
    'staysDropped' in made &&
    made.staysDropped &&
    say`A swap or plan change that you had planned before does not come back.`
  switch (made.what) {
    case 'enrolled':
      if (!on) return { title: say`You are enrolled`, lead: say`Each benefit shows when it starts.`, rest }
      return {
        title: say`You are enrolled from ${on}`,
        lead: say`Your benefits start on ${on}. There is no coverage before that day.`,
        rest,
      }
    case 'added': {
      const isOne = made.count === 1
      const lead = say`These are all your benefits.`
      if (!on)
        return {
          title: isOne ? say`Your new benefit is added` : say`Your new benefits are added`,
          lead,
          rest,
        }
      const title = isOne
        ? say`Your new benefit is added and starts on ${on}`
        : say`Your new benefits are added and start on ${on}`
      return { title, lead: notbefore, rest }
    }
    case 'upgraded':
    case 'downgraded': {
      const { plan } = made
      const isUp = made.what === 'upgraded'
      const next = [made.dropsSwap && say`The swap that you had planned will not happen.`]
      if (!on && isUp)
        return { title: say`You moved up to ${plan}`, lead: say`Your new plan is in force.`, rest, next }
      const changed = say`Your plan has changed. These are your benefits now.`
      if (!on) return { title: say`You moved to ${plan}`, lead: changed, rest, next }
      if (isUp) {
        const itself = say`Your plan changes by itself on that day.`
        const title = say`You move up to ${plan} on ${on}`
        return { title, lead: say`Nothing changes before that day.`, next: [...next, itself] }
      }
      return {
        title: say`You move to ${plan} on ${on}`,
        lead: say`Until then you keep the plan and the benefits you have now.`,
        next: [
          ...next,
          say`Your plan changes by itself on that day. What does not come with it ends on the day shown.`,
        ],
      }
    }
    case 'swapped':
      return {
        title: say`Your swap is set for ${on ?? ''}`,
        lead: say`Until then you keep the benefits you have now.`,
        itself: say`The swap happens by itself on that day.`,
      }
    case 'covers':
      return {
        title: say`Who is covered by ${made.benefit} changes on ${on ?? ''}`,
        lead: say`Nothing changes before that day.`,
        itself: say`The change happens by itself on that day.`,
      }
    case 'cancelled':
      return cancelledWords(page, made)
    case 'undone': {
      const { plan } = made
      if (made.of === 'cover')
        return {
          title: say`Your benefit goes on as it is`,
          lead: say`The change that you had planned is undone.`,
          rest,
        }
      const said = { rest, next: [staysdropped] }
      if (made.of === 'swap' && !on)
        return { ...said, title: say`Your swap is undone`, lead: say`You keep the benefits you have now.` }
      if (made.of === 'swap') {
        const title = say`Your swap is undone, and ${plan} starts on ${on ?? ''}`
        return { ...said, title, lead: say`Your benefits start as they were planned before.` }
      }
      if (!on)
        return { ...said, title: say`You stay on ${plan}`, lead: say`The change of your plan is undone.` }
      const lead = say`The change of your plan is undone. There is no coverage before that day.`
      return { ...said, title: say`You start with ${plan} on ${on}`, lead }
    }
    case 'kept':
      return {
        title: say`You keep your benefits`,
        lead: say`The cancellation is undone. Your coverage goes on without a gap.`,
        rest,
        next: [staysdropped],
      }
    case 'reinstated': {
      const { missing } = made
      const next = [missing.length > 0 && say`This could not come back: ${namesText(page, missing)}.`]
      if (on) return { title: say`Your benefits are back and start on ${on}`, lead: notbefore, rest, next }
      const lead = say`Your plan is in force again. There was no coverage while it was canceled.`
      return { title: say`Your benefits are back`, lead, rest, next }
    }
  }
}

function cancelledWords(page: Page, made: Extract<Made, { what: 'cancelled' }>): Said {
  const say = sayIn(page)
  const noreturn = say`Once they have ended, you cannot bring them back: as things stand, your plan is not open to you any more.`
  const { timing, withdrawn = [], backuntil } = made
  const on = dayText(page, made.lastday)
  const later = made.noreturn
    ? noreturn
    : say`For 30 days after that you can still bring them back if you qualify.`
  const until = backuntil !== undefined && deadlineText(page, backuntil)
  const partner = page.partner.displayname
  const next = [
    withdrawn.length > 0 && say`These have not started and will not: ${namesText(page, withdrawn)}.`,
    made.hasDropped && say`The swap or plan change that you had planned will not happen.`,
    timing === 'ahead' && say`Changed your mind? Until then you can keep your benefits. ${later}`,
    made.noreturn && timing !== 'ahead' && noreturn,
    until &&
      say`If you change your mind and still qualify, you can bring your benefits back. The last moment is ${until}. Open your benefits from ${partner} again.`,
  ]
  if (timing === 'ahead') {
    const lead = say`You are covered until the end of that day.`
    return { title: say`Your benefits will end on ${on}`, lead, next }
  }
  if (timing === 'today')
    return { title: say`Your benefits have ended`, lead: say`Your coverage ended today, ${on}.`, next }
  const lead = say`Your benefits had not started, and they will not start.`
  return { title: say`Your enrollment is canceled`, lead, next }
}
