import type { Zone } from '../../calendar/calendar.ts'
import { html, type Slot } from '../../http/html.ts'
import { answerInWords } from '../views/answer.ts'
import { tag, when } from '../views/parts.ts'
import { type EndpointLine, MOST_COUNTED } from './store.ts'

/** The states of an endpoint, worst first. */
export const STATES = ['disabled', 'failing', 'paused', 'ok'] as const

/** The state of an endpoint now. */
export function stateOf(line: EndpointLine, now: number): (typeof STATES)[number] {
  if (line.disabled_at !== null) return 'disabled'
  if (line.failing_since !== null) return 'failing'
  return line.paused_until !== null && line.paused_until > now ? 'paused' : 'ok'
}

/** The place of an endpoint in a list that begins with those in trouble. */
export function rankOf(line: EndpointLine, now: number): number {
  return STATES.indexOf(stateOf(line, now))
}

/** The state of an endpoint as a tag. */
export function stateTag(line: EndpointLine, now: number): Slot {
  const state = stateOf(line, now)
  return tag(state, state === 'ok' ? 'good' : state === 'paused' ? 'wait' : 'bad')
}

/** The health of an endpoint, such as `HTTP 422 since Nov 22, 2:02 PM`. */
export function healthInWords(line: EndpointLine, now: number, zone: Zone): Slot {
  const last = answerInWords(line.last_status, line.last_error)
  switch (stateOf(line, now)) {
    case 'disabled':
      return html`${WHY[line.disabled_reason ?? 'operator']}, ${when(line.disabled_at ?? now, zone)}`
    case 'failing':
      return html`${last} since ${when(line.failing_since ?? now, zone)}`
    case 'paused':
      return html`it asked to wait until ${when(line.paused_until ?? now, zone)}`
    case 'ok':
      return line.last_at === null ? '' : `some events fail: ${last}`
  }
}

const WHY = {
  operator: 'paused by an operator',
  gone: 'it answered 410',
  failing: 'it failed for 72 hours',
} as const

/** A number of deliveries, which are counted only up to a limit. */
export function countOf(count: number): string {
  return count >= MOST_COUNTED ? `${MOST_COUNTED} or more` : String(count)
}
