import { errors } from '@benefit-enrolment/contract/names'
import { html, type Slot } from '../../http/html.ts'
import { projectPendingChanges } from '../../membership/rules/apply-due.ts'
import { type HistoryLine, linesOf } from '../../membership/rules/history.ts'
import type { Changed } from '../../membership/rules/intents.ts'
import type { Refusal } from '../../membership/rules/refusal.ts'
import { isActive } from '../../membership/rules/state.ts'
import { when } from '../views/parts.ts'
import type { Moment } from './act.ts'

/** What a change does to a user, told before it is done by the functions that do it. */
export type ActEffect = {
  readonly lines: readonly HistoryLine[]
  readonly events: readonly string[]
  /** The same in one text: two changes with the same text do the same. */
  readonly text: string
}

/** What a decided change would write into the history, and which events it raises. */
export function effectOf(changed: Changed, { user, now, terms }: Moment, why: string): ActEffect {
  const after = isActive(changed.user)
    ? projectPendingChanges(changed.user, terms, { user, at: now })
    : changed.user
  const lines = linesOf({ at: now, before: user, after, events: changed.events }, 'operator', why)
  const events = changed.events.map(({ eventname }) => eventname)
  return {
    lines,
    events,
    text: JSON.stringify([lines.map(({ what, from, to }) => [what, from, to]), events]),
  }
}

/** An effect as a list, with the events that the partner hears. */
export function showEffect({ lines, events }: ActEffect, zone: string): Slot {
  const shown = (text: string): Slot =>
    /^\d{4}-.*Z$/.test(text) ? when(Date.parse(text), zone) : text || '–'
  return html`${
    lines.length === 0
      ? html`<p>Nothing: it is so already.</p>`
      : html`<ul>${lines.map(({ what, from, to }) => html`<li><strong>${what}</strong> ${shown(from)} → ${shown(to)}</li>`)}</ul>`
  }
<p class="hint">${events.length === 0 ? 'The partner hears of nothing.' : `The partner hears: ${events.join(', ')}.`}</p>`
}

/** Why an act is refused, in words. */
export function wordsOf({ refused, reasons }: Refusal): string {
  const why = reasons.map(({ text }) => text.en).join(' ')
  return refused === 'bad_request' && why !== '' ? why : `${errors[refused].title}. ${why}`.trim()
}
