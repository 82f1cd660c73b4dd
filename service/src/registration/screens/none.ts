import { html } from '../../http/html.ts'
import { missingGroups } from '../session/answers.ts'
import { wayBack } from '../session/session.ts'
import { pageOf } from '../session/visit.ts'
import { plansFor } from '../steps/plans.ts'
import type { Step } from '../steps/step.ts'
import { emblem } from '../views/icons.ts'
import type { Content } from '../views/layout.ts'
import { leave } from '../views/lists.ts'
import { inBoth, type ViewOf } from '../views/surroundings.ts'

/** No benefit fits this person, with the reasons; without a reason, no plan is open to anybody. */
export type NoBenefitsView = ViewOf<'NO_BENEFITS'> & {
  readonly reasons: readonly string[]
  readonly redirecturl?: string | undefined
}

/** No plan fits, and why. */
export const none: Step<NoBenefitsView> = {
  show: visit => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const { plans, reasons } = plansFor(visit)
    if (plans.length > 0) return { to: 'plan' }
    return {
      view: 'NO_BENEFITS',
      page: pageOf(visit),
      reasons,
      redirecturl: wayBack(visit),
    }
  },
}

/** The words for a person whom no benefit fits. */
export const noneWords = inBoth({
  en: {
    title: 'There are no benefits for you right now',
    lead: 'We compared your details with the rules of each benefit. None fits today.',
    closed: 'Enrollment is not open right now',
    closedkept: 'Your details are kept.',
    why: 'Why',
    kept: 'We kept your details. If something is wrong, correct it and we will check again right away.',
    button: 'Check my details',
  },
  es: {
    title: 'Por ahora no hay beneficios para usted',
    lead: 'Comparamos sus datos con las reglas de cada beneficio. Hoy no cumple los requisitos de ninguno.',
    closed: 'La inscripción no está abierta en este momento',
    closedkept: 'Guardamos sus datos.',
    why: 'Por qué',
    kept: 'Guardamos sus datos. Si algo está mal, corríjalo y volvemos a revisar enseguida.',
    button: 'Revisar mis datos',
  },
})

/** No benefit fits: why, which data is kept, and how to correct wrong data. */
export function drawNone(view: NoBenefitsView): Content {
  const { page, reasons } = view
  const words = noneWords[page.locale]
  // Without a reason no rule keeps this person out; no plan is open.
  const isClosed = reasons.length === 0
  const title = isClosed ? words.closed : words.title
  return {
    title,
    body: html`${emblem('info')}
<h1 tabindex="-1">${title}</h1>
${
  isClosed
    ? html`<p class="lead">${words.closedkept}</p>`
    : html`<p class="lead">${words.lead}</p>
<section><h2>${words.why}</h2><ul class="plain">${reasons.map(reason => html`<li>${reason}</li>`)}</ul></section>
<p>${words.kept}</p>
<p class="actions"><a class="primary" href="${page.root}/details">${words.button}</a></p>`
}
${leave(page, { redirecturl: view.redirecturl, rank: isClosed ? 'primary' : 'secondary' })}`,
  }
}
