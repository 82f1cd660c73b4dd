import { html, type Slot } from '../../http/html.ts'
import { waitsUntil } from '../../membership/rules/enrolments.ts'
import { missingOf } from '../../membership/rules/view.ts'
import { requestKinds } from '../acts/request-kinds.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { benefitName } from '../views/moves.ts'
import { day } from '../views/parts.ts'
import type { Shown } from './shown.ts'

/** What the person still has to do before benefits can begin, and by when; empty where nothing is missing. */
export function missingNotice(details: UserDetails): Slot {
  const { user, terms, partner } = details
  const waiting = user.enrolments.filter(({ state }) => state === 'actionrequired')
  if (waiting.length === 0) return ''
  const items = waiting.map(one => {
    const name = benefitName(details, one.benefit)
    const what = missingOf(user, one, terms).map(code => MISSING[code] ?? code)
    const until = waitsUntil(one)
    const by = until !== undefined && html`, by ${day(until, partner.timezone)}`
    return html`<li>
${name}: the person has to ${what.join(' and to ')}${by}.</li>`
  })
  return html`<div class="notice"><h3>Missing</h3><ul>${items}</ul></div>`
}

const MISSING: Readonly<Record<string, string>> = {
  consent_required: 'agree to its terms',
  beneficiary: 'name a beneficiary on the page',
}

/** What operators asked a second person to confirm about the user; empty where nothing waits. */
export function waitingNotice({ waiting, details }: Shown): Slot {
  const { operators, partner } = details
  return (
    waiting.length > 0 &&
    html`<section class="notice"><h2>Waits for a second person</h2><ul>${waiting.map(one => {
      const by = operators.get(one.asked_by) ?? 'an operator'
      const on = day(one.asked_at, partner.timezone)
      return html`<li><a
href="/requests/${one.request_id}">${titleOf(one.action)}</a>, asked for by ${by} on ${on}</li>`
    })}</ul></section>`
  )
}

function titleOf(action: string): string {
  return requestKinds.find(kind => kind.action === action)?.title ?? action
}
