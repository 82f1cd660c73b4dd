import { type Benefit, textIn } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import { missingGroups } from '../session/person.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { costOf } from '../steps/cards.ts'
import { saveAnswers } from '../steps/change-own.ts'
import { type Plan, plansFor, stepOf } from '../steps/plans.ts'
import type { Step } from '../steps/step.ts'
import { parseOneOf } from '../steps/step.ts'
import { isFaulty } from '../views/faults.ts'
import { type Choice, form, oneOf, primary, question } from '../views/fields.ts'
import { namesText, priceText, totalText } from '../views/format.ts'
import { passageIn, type Say, sayIn } from '../views/say.ts'

/** The plans from which a newcomer chooses one; skipped when there is no choice. */
export const plan: Step = {
  show: (visit, typed) => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const { plans } = plansFor(visit)
    if (plans.length === 0) return { to: 'none' }
    if (plans.length === 1) return { to: 'benefits' }
    const chosen = typed.posted ? (typed.posted.get('offername') ?? '') : planInMind(visit, plans)
    const page = pageOf(visit, stepOf(visit, 'plan'))
    const say = sayIn(page)
    const answers = { page, errors: typed.errors }
    return question('PLAN', answers, {
      title: say`Choose your plan`,
      back: 'details',
      body: html`<p class="lead">${say`You can change it later.`}</p>
${form(answers, 'plan', [
  oneOf(answers, 'offername', {
    legend: html`<legend class="unseen">${say`Choose your plan`}</legend>`,
    chosen,
    choices: plans.map(one => planChoice(visit, one)),
  }),
  primary(say`Continue`),
])}`,
    })
  },
  post: async (visit, form) => {
    // The partner may have left a detail out since the view was shown.
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const plans = plansFor(visit).plans.map(({ offer }) => offer.offer)
    const offer = parseOneOf(form, { input: 'offername', code: 'offer_missing' }, plans)
    if (isFaulty(offer)) return offer
    return saveAnswers(visit, { to: 'benefits' }, draft => {
      if (draft.offer === offer) return draft
      const { picks: _, ...kept } = draft
      return { ...kept, offer }
    })
  },
}

/** The preselected plan: the one already chosen, or the first that has the benefit of the person's link. */
function planInMind(visit: Visit, plans: readonly Plan[]): string | undefined {
  const wanted = visit.deepLink?.productname
  const fitting = plans.find(({ included, selectable }) =>
    [...included, ...selectable].some(benefit => benefit.name === wanted),
  )
  return visit.draft.offer ?? fitting?.offer.offer
}

/**
 * A plan to choose: its name, its price unless that depends on what is chosen, what comes with it in one line, and what else can
 * be chosen in a part that opens.
 */
function planChoice(visit: Visit, { offer, included, selectable }: Plan): Choice {
  const say = sayIn(visit)
  const displayname = textIn(offer.displayname, visit.locale)
  const slots = Math.min(offer.slots, selectable.length)
  const isBare = included.length === 0 && slots > 0
  const costsOf = (benefits: readonly Benefit[]) => benefits.map(one => costOf(visit, one))
  // "Free" would be false of a plan with picks that cost something.
  const isOpen = slots > 0 && costsOf(selectable).some(({ kind }) => kind === 'amount')
  const isPriced = costsOf(included).some(({ kind }) => kind === 'amount') || !isOpen
  const comes = namesText(
    visit,
    included.map(one => textIn(one.displayname, visit.locale)),
  )
  return {
    value: offer.offer,
    label: html`<strong>${displayname}</strong>${
      !isBare && isPriced && html` <span class="worth">${totalText(visit, costsOf(included))}</span>`
    }<span class="hint">${passageIn(offer.description, visit.locale)}</span>`,
    card: html`${included.length > 0 && html`<p>${say`Comes with ${comes}.`}</p>`}${
      offer.firstmonth === 'free' &&
      (isOpen || isPriced) &&
      html`<p>${say`You pay nothing for the month in which it starts.`}</p>`
    }
${
  slots > 0 &&
  html`<details><summary>${choosing(say, slots, isBare)}<span class="unseen">: ${displayname}</span></summary><p>${namesText(
    visit,
    selectable.map(one => nameAndPrice(visit, one)),
  )}.</p></details>`
}`,
  }
}

/** A benefit's name, with its price if it has one. */
function nameAndPrice(visit: Visit, benefit: Benefit): string {
  const [name, cost] = [textIn(benefit.displayname, visit.locale), costOf(visit, benefit)]
  return cost.kind === 'nothing' ? name : `${name} (${priceText(visit, cost)})`
}

/** How many can be chosen; of all that there is (`isBare`), or besides what comes with the plan. */
function choosing(say: Say, slots: number, isBare: boolean): string {
  if (isBare) return slots === 1 ? say`Choose 1 benefit` : say`Choose up to ${slots} benefits`
  return slots === 1 ? say`Choose 1 more benefit` : say`Choose up to ${slots} more benefits`
}
