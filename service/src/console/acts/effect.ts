import { errors } from '@benefit-enrolment/contract/names'
import { html, type Slot } from '../../http/html.ts'
import type { Effect } from '../../membership/rules/effect.ts'
import type { Refusal } from '../../membership/rules/refusal.ts'
import { moveWords } from '../views/moves.ts'

/** An effect on a user as a list, with the events that the partner would get. */
export function showEffect({ lines, events }: Effect, of: Parameters<typeof moveWords>[1]): Slot {
  return html`${
    lines.length === 0
      ? html`<p>Nothing: it is so already.</p>`
      : html`<ul>${lines.map(line => html`<li>${moveWords(line, of)}</li>`)}</ul>`
  }
<p class="hint">${events.length === 0 ? 'The partner hears of nothing.' : `The partner hears: ${events.join(', ')}.`}</p>`
}

/** Why an act is refused, in words. */
export function wordsOf({ refused, reasons }: Refusal): string {
  const why = reasons.map(({ text }) => text.en).join(' ')
  return refused === 'bad_request' && why !== '' ? why : `${errors[refused].title}. ${why}`.trim()
}
