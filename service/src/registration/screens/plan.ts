import type { Benefit } from '../../catalogue/model.ts'
import { html } from '../../http/html.ts'
import { missingGroups } from '../session/answers.ts'
import { pageOf, type Visit } from '../session/visit.ts'
import { costOf } from '../steps/disclosures.ts'
import { type Plan, plansFor, stepOf } from '../steps/plans.ts'
import { parseOneOf } from '../steps/posted.ts'
import { saveAnswers } from '../steps/save-answers.ts'
import type { Step } from '../steps/step.ts'
import { type Asking, isFaulty } from '../views/faults.ts'
import { type Choice, form, oneOf, primary, question } from '../views/fields.ts'
import { namesText, priceText } from '../views/format.ts'
import type { Content } from '../views/layout.ts'
import type { Cost } from '../views/parts.ts'
import { totalText } from '../views/price.ts'
import { type Say, sayIn } from '../views/say.ts'
import type { Localized, Page, ViewOf } from '../views/surroundings.ts'

/** The plans from which a newcomer chooses one, if there are several. */
export type PlanView = ViewOf<'PLAN'> &
  Asking & {
    readonly plans: readonly PlanChoice[]
    readonly chosen?: string | undefined
  }

/** A plan that a newcomer may take, in plain words. */
export type PlanChoice = {
  readonly offer: string
  readonly displayname: string
  readonly description: string
  /** The benefits that come with it. */
  readonly included: readonly PlanBenefit[]
  /** Those to choose among. */
  readonly selectable: readonly PlanBenefit[]
  /** How many of them can be chosen. */
  readonly slots: number
  /** Nothing is charged for the month in which it starts. */
  readonly isfirstfree: boolean
}

/** A benefit of a plan. */
type PlanBenefit = { readonly displayname: string; readonly cost: Cost }

/** The plans from which a newcomer chooses one; skipped when there is no choice. */
export const plan: Step<PlanView> = {
  show: (visit, typed) => {
    if (missingGroups(visit.person).length > 0) return { to: 'details' }
    const { plans } = plansFor(visit)
    if (plans.length === 0) return { to: 'none' }
    if (plans.length === 1) return { to: 'benefits' }
    const chosen = typed.posted ? (typed.posted.get('offername') ?? '') : planInMind(visit, plans)
    const partOf = (benefit: Benefit) => ({
      displayname: benefit.displayname[visit.locale],
      cost: costOf(visit, benefit),
    })
    return {
      view: 'PLAN',
      page: pageOf(visit, stepOf(visit, 'plan')),
      plans: plans.map(({ offer, included, selectable }) => ({
        offer: offer.offer,
        displayname: offer.displayname[visit.locale],
        description: offer.description[visit.locale],
        included: included.map(partOf),
        selectable: selectable.map(partOf),
        slots: Math.min(offer.slots, selectable.length),
        isfirstfree: offer.firstmonth === 'free',
      })),
      chosen,
    }
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

/** The plans from which a newcomer chooses one: what comes with each, and how much can be chosen. */
export function drawPlan(view: PlanView): Content {
  const { page, plans, chosen } = view

  const say = sayIn(page)

  return question(view, {
    title: say`Choose your plan`,
    back: 'details',
    body: html`<p class="lead">${say`You can change it later.`}</p>
${form(view, 'plan', [
  oneOf(view, 'offername', {
    legend: html`<legend class="unseen">${say`Choose your plan`}</legend>`,
    chosen,
    choices: plans.map(choice => planChoice(page, choice)),
  }),
  primary(say`Continue`),
])}`,
  })
}

/**
 * A plan to choose: its name, its price unless that depends on what is chosen, what comes with it in one line, and what else can
 * be chosen in a part that opens.
 */
function planChoice(page: Page, plan: PlanChoice): Choice {
  const say = sayIn(page)
  const { offer, displayname, description, included, selectable, slots, isfirstfree } = plan
  const isBare = included.length === 0 && slots > 0
  const costs = included.map(({ cost }) => cost)
  // "Free" would be false of a plan with picks that cost something.
  const isOpen = slots > 0 && selectable.some(({ cost }) => cost.kind === 'amount')
  const isPriced = costs.some(({ kind }) => kind === 'amount') || !isOpen
  const names = (list: readonly string[]) => namesText(page, list)
  return {
    value: offer,
    label: html`<strong>${displayname}</strong>${
      !isBare && isPriced && html` <span class="worth">${totalText(page, costs)}</span>`
    }<span class="hint">${description}</span>`,
    card: html`${
      included.length > 0 &&
      html`<p>${say`Comes with ${names(included.map(benefit => benefit.displayname))}.`}</p>`
    }${isfirstfree && (isOpen || isPriced) && html`<p>${say`You pay nothing for the month in which it starts.`}</p>`}
${
  slots > 0 &&
  html`<details><summary>${choosing(say, slots, isBare)}<span class="unseen">: ${displayname}</span></summary><p>${names(
    selectable.map(benefit => nameAndPrice(page, benefit)),
  )}.</p></details>`
}`,
  }
}

/** A benefit's name, with its price if it has one. */
function nameAndPrice(page: Localized, { displayname, cost }: PlanBenefit): string {
  return cost.kind === 'nothing' ? displayname : `${displayname} (${priceText(page, cost)})`
}

/** How many can be chosen; of all that there is (`isBare`), or besides what comes with the plan. */
function choosing(say: Say, slots: number, isBare: boolean): string {
  if (isBare) return slots === 1 ? say`Choose 1 benefit` : say`Choose up to ${slots} benefits`
  return slots === 1 ? say`Choose 1 more benefit` : say`Choose up to ${slots} more benefits`
}
