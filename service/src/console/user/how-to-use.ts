import { html, type Slot } from '../../http/html.ts'
import { howToUseToday, usableUntil } from '../../membership/rules/how-to-use.ts'
import { type Enrolment, isInForce } from '../../membership/rules/state.ts'
import { knownBenefit } from '../../membership/rules/terms.ts'
import type { UserDetails } from '../user-data/user-details.ts'
import { writeDay } from '../views/parts.ts'

/**
 * How a benefit is used, to read out to its holder: while it is in force and, for what happened before its end, as long as
 * the catalogue says; empty otherwise.
 */
export function howToUsePart({ terms, user, now, partner }: UserDetails, enrolment: Enrolment): Slot {
  const benefit =
    terms.version(enrolment.version).benefits.get(enrolment.benefit) ??
    knownBenefit(terms, user, enrolment.benefit)
  const use = benefit && howToUseToday(terms, benefit)
  const until = benefit && usableUntil(terms, enrolment, benefit)
  const isUsable = isInForce(enrolment) || (until !== undefined && now < until)
  if (!use || !isUsable) return ''
  const { text, phone, url, email } = use
  return html`<details><summary>How to use it</summary>
${until !== undefined && html`<p>For what happened before its end, until ${writeDay(until - 1, partner.timezone)}.</p>`}
<p>${text.en}</p>
<ul class="rules">${[phone, url, email].map(way => way !== undefined && html`<li>${way}</li>`)}</ul></details>`
}
