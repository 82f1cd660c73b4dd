import { errors } from '@benefit-enrolment/contract/names'
import { html, type Slot } from '../../http/html.ts'
import type { Effect } from '../../membership/rules/effect.ts'
import type { Refusal } from '../../membership/rules/refusal.ts'
import { when } from '../views/parts.ts'

/** An effect as a list, with the events that the partner would get. */
export function showEffect({ lines, events }: Effect, zone: string): Slot {
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
