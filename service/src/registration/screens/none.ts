import { html } from '../../http/html.ts'
import { missingGroups } from '../session/person.ts'
import { wayBack } from '../session/session.ts'
import { pageOf } from '../session/visit.ts'
import { plansFor } from '../steps/plans.ts'
import type { Step } from '../steps/step.ts'
import { emblem } from '../views/icons.ts'
import { leave } from '../views/lists.ts'
import { sayIn } from '../views/say.ts'

/** No plan fits: why, which data is kept, and how to correct wrong data. */
export const none: Step = {
  show: visit => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const { plans, reasons } = plansFor(visit)
    if (plans.length > 0) return { to: 'plan' }
    const page = pageOf(visit)
    const say = sayIn(page)
    // Without a reason no rule keeps this person out; no plan is open.
    const isClosed = reasons.length === 0
    const title = isClosed
      ? say`Enrollment is not open right now`
      : say`There are no benefits for you right now`
    const body = html`${emblem('info')}
<h1 tabindex="-1">${title}</h1>
${
  isClosed
    ? html`<p class="lead">${say`Your details are kept.`}</p>`
    : html`<p class="lead">${say`We compared your details with the rules of each benefit. None fits today.`}</p>
<section><h2>${say`Why`}</h2><ul class="plain">${reasons.map(reason => html`<li>${reason}</li>`)}</ul></section>
<p>${say`We kept your details. If something is wrong, correct it and we will check again right away.`}</p>
<p class="actions"><a class="primary" href="${page.root}/details">${say`Check my details`}</a></p>`
}
${leave(page, { redirecturl: wayBack(visit), rank: isClosed ? 'primary' : 'secondary' })}`
    return { view: 'NO_BENEFITS', page, content: { title, body } }
  },
}
