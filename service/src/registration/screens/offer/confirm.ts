import { lockedFrom } from '../../../calendar/calendar.ts'
import { textIn } from '../../../catalogue/model.ts'
import { html } from '../../../http/html.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import type { User } from '../../../membership/rules/state.ts'
import { offerOf, type Terms } from '../../../membership/rules/terms.ts'
import { changeOfferOf, type OfferChange } from '../../../offers/change.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { consentsFor, isOfRecords, withAgreed } from '../../steps/agreements.ts'
import { comingBySwap, foreseenLine, visitAfter } from '../../steps/ahead.ts'
import { lastDayOf, localDay } from '../../steps/cards.ts'
import type { OwnChange } from '../../steps/change-own.ts'
import { changeAndConfirm, confirmMade, confirmsOlder } from '../../steps/change-own.ts'
import type { Step } from '../../steps/step.ts'
import { checkConsents } from '../../steps/step.ts'
import { consentFields } from '../../views/consents.ts'
import { coverageSection, totalSection } from '../../views/coverage.ts'
import { form, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { benefitList } from '../../views/lists.ts'
import type { BenefitLine } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import { swapDropped } from './change.ts'
import { heldLines, inputFor, proposed } from './choices.ts'

/** What a change gives, takes and keeps, before it is made. */
export const offerConfirm: Step = {
  show: (visit, { form: asked, posted, errors }) => {
    const found = proposed(visit, asked)
    const current = offerOf(visit.terms, visit.user)
    if (!found || !current) return { to: 'offer' }
    const { changed, choice } = found
    const page = pageOf(visit)
    const say = sayIn(page)
    const after = visitAfter(visit, changed)
    const at = changed.effectiveAt
    const gained = found.gained.map(benefit => foreseenLine(visit, after, benefit, at, at))
    const kept = heldLines(after, changed.kept)
    // What a pending swap will still bring after the change.
    const swapped = comingBySwap(after)
    const answers = { page, errors }
    const list = (heading: string, lines: readonly BenefitLine[]) =>
      html`<section><h2>${heading}</h2>${
        lines.length > 0 ? benefitList(page, lines) : html`<p class="hint">${say`Nothing`}</p>`
      }</section>`
    const undoable = !changed.isImmediate && deadlineText(page, lockedFrom(at, current.cutoffhours))
    return question('OFFER_CONFIRM', answers, {
      title: say`Check your new plan`,
      back: 'offer',
      body: html`<p class="lead">${say`You move from ${textIn(current.displayname, visit.locale)} to ${choice.displayname} on ${dayText(page, choice.effectiveon)}.`}</p>
${list(say`You gain`, gained)}
${list(say`You lose`, lostLines(visit, changed))}
${list(say`You keep`, kept)}
${swapped.length > 0 && list(say`Your swap so far`, swapped)}
${visit.user.swap !== undefined && changed.user.swap === undefined && swapDropped(page)}
${totalSection(page, [...gained, ...kept, ...swapped])}
${coverageSection(page, gained)}
${undoable && html`<p class="withsign">${icon('clock')}${say`You can undo this until ${undoable}.`}</p>`}
${form(answers, 'offer/confirm', [
  html`<input type="hidden" name="offername" value="${choice.offer}">`,
  consentFields(answers, consentsFor(visit, found.gained, posted)),
  primary(say`Change my plan`),
])}`,
    })
  },
  post: async (visit, form) => {
    if (isMade(visit, form.get('offername') ?? '')) return confirmMade(visit, 'changed')
    const found = proposed(visit, form)
    if (!found) return 'conflict'
    const { choice, gained } = found
    if (confirmsOlder(visit, form)) return 'conflict'
    const agreements = consentsFor(visit, gained)
    const refused = checkConsents(form, agreements, 'confirm', name =>
      isOfRecords(name) ? undefined : 'keepplan',
    )
    if (refused) return refused
    const { offer, displayname: offername } = choice
    const decide: OwnChange['decide'] = ({ user, now, terms }) => {
      if (user.offer?.name === offer || isPendingSo(user, offer, { now, terms: terms() })) return 'unchanged'
      return changeOfferOf(withAgreed(user, visit, agreements), inputFor(offer), now, terms())
    }
    const change = { why: 'offer change' as const, form, agreements, offername, decide }
    return changeAndConfirm(visit, 'changed', change, 'conflict')
  },
}

/** Whether exactly what the person asks for was done or planned before: the form was sent a second time. */
function isMade({ user, session, now, terms }: Visit, offername: string): boolean {
  return (
    isPendingSo(user, offername, { now, terms }) ||
    (session.outcome === 'changed' && user.offer?.name === offername)
  )
}

/**
 * Whether exactly this change is planned. An upgrade that the partner planned for a later day is another change: the person
 * asks for it now.
 */
function isPendingSo(user: User, offername: string, { now, terms }: { now: number; terms: Terms }): boolean {
  if (user.pendingOffer?.name !== offername) return false
  const again = changeOfferOf(user, inputFor(offername), now, terms)
  return isRefusal(again) || again.user === user
}

/**
 * Lost benefits with their last day (today if they end at once); a benefit that will not have started by then has none. A
 * benefit that still waits for the person can only start before the change.
 */
function lostLines(visit: Visit, changed: OfferChange): BenefitLine[] {
  const isNow = changed.effectiveAt <= visit.now
  const endson = isNow ? visit.today : lastDayOf(visit, changed.effectiveAt)
  const on = localDay(visit, changed.effectiveAt)
  return heldLines(visit, changed.lost).map(({ since, startson, ...line }) => {
    if (line.actionrequired && isNow) return { ...line, actionrequired: false }
    if (line.actionrequired) return { ...line, dueon: line.dueon && line.dueon < on ? line.dueon : on }
    if (startson !== undefined)
      return startson <= endson ? { ...line, startson, endson } : { ...line, endson: undefined }
    return since === undefined && line.endson === undefined ? line : { ...line, endson }
  })
}
