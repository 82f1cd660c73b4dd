import { errors } from '@benefit-enrolment/contract/names'
import { html, type Slot } from '../../http/html.ts'
import type { Effect } from '../../membership/rules/effect.ts'
import type { Refusal } from '../../membership/rules/refusal.ts'
import { consequences } from '../views/consequences.ts'
import { moveWords, type Of } from '../views/moves.ts'

/** An effect on a user in sentences; the lines of the history and the partner's events behind *Details*. */
export function showEffect({ lines, events }: Effect, of: Of): Slot {
  if (lines.length === 0) return html`<p>Nothing: it is so already.</p>`
  const told = events.length === 0 ? 'The partner is not told.' : 'The partner is told.'
  return html`<p>${[...consequences(lines, of), 'Nothing else changes.', told].join(' ')}</p>
<details><summary>Details</summary><ul class="rules">${lines.map(line => html`<li>${moveWords(line, of)}</li>`)}</ul>
${events.length > 0 && html`<p class="hint">Events: <code>${events.join(', ')}</code></p>`}</details>`
}

/** Why an act is refused, in words. */
export function wordsOf({ refused, reasons }: Refusal): string {
  const why = reasons.map(({ text }) => text.en).join(' ')
  return refused === 'bad_request' && why !== '' ? why : `${errors[refused].title}. ${why}`.trim()
}
