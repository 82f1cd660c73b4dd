import { html, type Slot } from '../../http/html.ts'
import { erasureRequest } from '../acts/erase.ts'
import { actRequests } from '../acts/request-kinds.ts'
import { when } from '../views/parts.ts'
import type { Shown } from './shown.ts'

/** What operators asked a second person to confirm about the user; empty where nothing waits. */
export function waitingNotice({ waiting, details }: Shown): Slot {
  const { operators, partner } = details
  return (
    waiting.length > 0 &&
    html`<section class="notice"><h2>Waits for a second person</h2><ul>${waiting.map(
      one =>
        html`<li><a href="/requests/${one.request_id}">${titleOf(one.action)}</a>, asked for by ${operators.get(one.asked_by) ?? 'an operator'} on ${when(one.asked_at, partner.timezone)}</li>`,
    )}</ul></section>`
  )
}

function titleOf(action: string): string {
  return [...actRequests, erasureRequest].find(kind => kind.action === action)?.title ?? action
}
