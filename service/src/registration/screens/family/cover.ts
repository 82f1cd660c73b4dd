import { type CoverChange, changeCoverOf } from '../../../benefits/cover.ts'
import { textIn } from '../../../catalogue/model.ts'
import { type Html, html } from '../../../http/html.ts'
import { withCover } from '../../../membership/rules/cover.ts'
import { isRefusal } from '../../../membership/rules/refusal.ts'
import { type Enrolment, heldEnrolment } from '../../../membership/rules/state.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { familyFacts, leavingOn, localDay } from '../../steps/cards.ts'
import { changeAndConfirm, type OwnChange, saveAnswers } from '../../steps/change-own.ts'
import {
  type Asked,
  askedFor,
  coverChoice,
  coveredBy,
  isChangeable,
  namingPath,
  readCover,
} from '../../steps/family.ts'
import type { Step } from '../../steps/step.ts'
import { coverField, coverLines } from '../../views/cover.ts'
import { isFaulty } from '../../views/faults.ts'
import { draftField, form, primary, question } from '../../views/fields.ts'
import { dayText, deadlineText } from '../../views/format.ts'
import { icon } from '../../views/icons.ts'
import { notice } from '../../views/layout.ts'
import { costLine, leavingNotice } from '../../views/lists.ts'
import type { CoverFacts } from '../../views/parts.ts'
import { sayIn } from '../../views/say.ts'
import type { Page } from '../../views/surroundings.ts'

/** Whom a benefit that is held covers: what is pending, with the button that undoes it, and the choice from the next boundary on. */
export function cover(name: string): Step {
  return {
    show: (visit, { posted, errors }) => {
      const found = changeable(visit, name)
      if (!found) return { to: 'overview' }
      const { held, asked, today } = found
      const page = pageOf(visit)
      const say = sayIn(page)
      const answers = { page, errors }
      const leaving = leavingOn(visit)
      const isLocked = today.lockedAt <= visit.now
      const choice = coverChoice(visit, asked, posted)
      const displayname = textIn(asked.benefit.displayname, visit.locale)
      const facts = familyFacts(visit, held)
      return question('COVER', answers, {
        title: say`Who ${displayname} covers`,
        back: 'overview',
        asks: leaving === undefined && !isLocked,
        body: html`${factsList(page, facts)}
${leaving !== undefined && leavingNotice(page, leaving, 'all')}
${
  isLocked &&
  leaving === undefined &&
  notice(
    say`Changes for next month are closed`,
    say`You can plan another change from ${dayText(page, localDay(visit, today.effectiveAt))}.`,
  )
}
${
  facts.coverlater &&
  !isLocked &&
  html`<form method="post" action="${page.root}/cover/${name}/undo">${draftField(page)}<p><button
class="secondary">${say`Undo this change`}</button></p></form>`
}
${
  leaving === undefined &&
  !isLocked &&
  choice &&
  html`<p>${say`A change takes effect on ${dayText(page, localDay(visit, today.effectiveAt))}.`}</p>
${form(answers, `cover/${name}`, [coverField(answers, choice), primary(say`Continue`)])}`
}`,
      })
    },
    post: (visit, posted) => {
      const found = changeable(visit, name)
      if (!found) return { to: 'overview' }
      const aside = namingPath(posted)
      const answer = readCover(visit, posted, [{ ...found.asked, isChosen: aside === undefined }])
      if (isFaulty(answer)) return answer
      return saveAnswers(visit, { to: aside ?? `cover/${name}/confirm` }, draft => ({ ...draft, ...answer }))
    },
  }
}

/** What the chosen people change, before it is made. */
export function coverConfirm(name: string): Step {
  return {
    show: (visit, { errors }) => {
      const found = changeable(visit, name)
      if (!found) return { to: 'overview' }
      const { held, asked } = found
      const ids = chosenIds(visit, asked)
      const change = changeCoverOf(visit.user, { name, dependants: ids }, visit.now, visit.terms)
      if (isRefusal(change)) return { to: `cover/${name}` }
      if (change.user === visit.user) return { to: visit.session.outcome === 'changed' ? 'done' : 'overview' }
      const page = pageOf(visit)
      const say = sayIn(page)
      const displayname = textIn(asked.benefit.displayname, visit.locale)
      const after = withCover(held, ids, asked.at, visit.terms)
      const { coverlater: _, ...now } = familyFacts(visit, held)
      const answers = { page, errors }
      return question('COVER_CONFIRM', answers, {
        title: say`Check who ${displayname} will cover`,
        back: `cover/${name}`,
        body: html`<section><h2>${say`Now`}</h2>${factsList(page, now)}</section>
<section class="panel"><h2>${say`From ${dayText(page, localDay(visit, change.effectiveAt))}`}</h2>${factsList(page, familyFacts(visit, after))}</section>
${
  change.lockedAt > visit.now &&
  html`<p class="withsign">${icon('clock')}${say`You can undo this until ${deadlineText(page, change.lockedAt)}.`}</p>`
}
${form(answers, `cover/${name}/confirm`, primary(say`Confirm this change`))}`,
      })
    },
    post: (visit, posted) => {
      const found = changeable(visit, name)
      if (!found) return { to: 'overview' }
      const ids = chosenIds(visit, found.asked)
      return changeAndConfirm(
        visit,
        'changed',
        { ...changing(name, ids), form: posted, agreements: [] },
        'conflict',
      )
    },
  }
}

/** Calls off the change that is pending for a benefit. */
export function coverUndo(name: string): Step {
  return {
    show: () => ({ to: `cover/${name}` }),
    post: visit => changeAndConfirm(visit, 'undone', changing(name, undefined), 'conflict'),
  }
}

function changing(name: string, dependants: readonly string[] | undefined): OwnChange {
  return {
    why: 'cover',
    decide: ({ user, now, terms }) => {
      const change = changeCoverOf(user, { name, dependants }, now, terms())
      if (isRefusal(change)) return change
      return change.user === user ? 'unchanged' : { ...change, documents: { draft: null } }
    },
  }
}

type Changeable = {
  readonly held: Enrolment
  readonly asked: Asked
  /** As if nothing were changed: it tells when a change would take effect. */
  readonly today: CoverChange
}

/** A benefit whose people the member can change; `undefined`: there is none of this name. */
function changeable(visit: Visit, name: string): Changeable | undefined {
  const { isMember, user, now, terms } = visit
  const held = isMember ? heldEnrolment(user, name) : undefined
  const asked = held && isChangeable(held) ? askedFor(visit, name) : undefined
  const settled = { ...user, enrolments: user.enrolments.map(one => ({ ...one, pendingCover: undefined })) }
  const today = asked && changeCoverOf(settled, { name, dependants: undefined }, now, terms)
  return held && asked && today && !isRefusal(today) ? { held, asked, today } : undefined
}

function chosenIds(visit: Visit, asked: Asked): readonly string[] {
  return coveredBy(visit, asked).map(({ dependantid }) => dependantid)
}

function factsList(page: Page, facts: CoverFacts): Html {
  const { cost } = facts
  const free = cost ? [sayIn(page)`Free`] : []
  const price = cost?.kind === 'amount' ? [costLine(page, cost)] : free
  const lines = [...price, ...coverLines(page, facts)]
  return html`<ul class="plain">${lines.map(line => html`<li>${line}</li>`)}</ul>`
}
