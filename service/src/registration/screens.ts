import { beneficiaryEdit } from './screens/beneficiaries/edit.ts'
import { drawBeneficiariesEdit } from './screens/beneficiaries/form.ts'
import { beneficiaryList, drawBeneficiaries } from './screens/beneficiaries/list.ts'
import { memberBenefits } from './screens/benefits/member.ts'
import { benefits } from './screens/benefits/newcomer.ts'
import { drawBenefits } from './screens/benefits/view.ts'
import { cancel, cancelUndo, drawCancel } from './screens/cancel.ts'
import { challenge, drawChallenge } from './screens/challenge.ts'
import { memberCheck, memberEnrol } from './screens/check/member.ts'
import { check, enrol } from './screens/check/newcomer.ts'
import { drawCheck } from './screens/check/view.ts'
import { comeback } from './screens/details/come-back.ts'
import { drawEdit, edit } from './screens/details/edit.ts'
import { drawReview, review } from './screens/details/review.ts'
import { done, drawDone } from './screens/done/done.ts'
import { drawEnded } from './screens/ended.ts'
import { drawFrame } from './screens/frame.ts'
import { drawNone, none } from './screens/none.ts'
import { drawOfferChange, offer, offerUndo } from './screens/offer/change.ts'
import { drawOfferConfirm, offerConfirm } from './screens/offer/confirm.ts'
import { drawOpen } from './screens/open.ts'
import { drawOverview, overview } from './screens/overview.ts'
import { drawPlan, plan } from './screens/plan.ts'
import { drawProblem } from './screens/problem.ts'
import { swap, swapUndo } from './screens/swap/choose.ts'
import { swapConfirm } from './screens/swap/confirm.ts'
import type { Visit } from './session/visit.ts'
import type { Drawn, Step } from './steps/step.ts'
import { detailsGroups } from './views/details.ts'
import { type Content, document } from './views/layout.ts'

/**
 * Every screen of the page, by the name that the embed's `VIEW` event carries: how it is drawn, its steps by their paths, and those that
 * members have instead. `at`: where it is shown again after a change of language, if it has no form.
 */
const screens = {
  OPEN: { draw: drawOpen },
  FRAME: { draw: drawFrame },
  LINK_ENDED: { draw: drawEnded },
  PROBLEM: { draw: drawProblem },
  CHALLENGE: { draw: drawChallenge, steps: { challenge } },
  DETAILS_REVIEW: { draw: drawReview, at: 'details', steps: { details: review, comeback } },
  DETAILS_EDIT: {
    draw: drawEdit,
    steps: Object.fromEntries(detailsGroups.map(group => [`details/${group}`, edit(group)])),
  },
  PLAN: { draw: drawPlan, steps: { plan }, ofMembers: { plan: leadsTo('overview') } },
  NO_BENEFITS: { draw: drawNone, at: 'none', steps: { none }, ofMembers: { none: leadsTo('overview') } },
  BENEFITS: {
    draw: drawBenefits,
    at: 'benefits',
    steps: { benefits },
    ofMembers: { benefits: memberBenefits },
  },
  CHECK_ANSWERS: {
    draw: drawCheck,
    steps: { check, enrol },
    ofMembers: { check: memberCheck, enrol: memberEnrol },
  },
  // The frame tells its host of a confirmation once, and not again because it is shown in another language.
  DONE: { draw: drawDone, at: 'done?told', steps: { done } },
  ALREADY_ENROLLED: { draw: drawOverview, at: 'overview', steps: { overview } },
  SWAP: { draw: contentOf<'SWAP'>, at: 'swap', steps: { swap, 'swap/undo': swapUndo } },
  SWAP_CONFIRM: { draw: contentOf<'SWAP_CONFIRM'>, steps: { 'swap/confirm': swapConfirm } },
  OFFER_CHANGE: { draw: drawOfferChange, at: 'offer', steps: { offer, 'offer/undo': offerUndo } },
  OFFER_CONFIRM: { draw: drawOfferConfirm, steps: { 'offer/confirm': offerConfirm } },
  BENEFICIARIES: {
    draw: drawBeneficiaries,
    at: 'beneficiaries',
    steps: { beneficiaries: beneficiaryList },
  },
  BENEFICIARIES_EDIT: { draw: drawBeneficiariesEdit },
  CANCEL: { draw: drawCancel, steps: { cancel, 'cancel/undo': cancelUndo } },
}

/** The content of a view that its step has drawn. */
function contentOf<Name extends string>({ content }: Drawn<Name>): Content {
  return content
}

type Screens = typeof screens

/** What a screen of the page is drawn from; `view` is its name. */
export type View = Parameters<Screens[keyof Screens]['draw']>[0]

/** A screen as it is declared. */
type Screen = {
  readonly draw: (view: never) => Content
  readonly at?: string
  readonly steps?: Readonly<Record<string, Step<View>>>
  readonly ofMembers?: Readonly<Record<string, Step<View>>>
}

const declared: readonly (readonly [name: string, screen: Screen])[] = Object.entries<Screen>(screens)

const steps = new Map(declared.flatMap(([, screen]) => Object.entries(screen.steps ?? {})))

const memberSteps = new Map(declared.flatMap(([, screen]) => Object.entries(screen.ofMembers ?? {})))

const paths = new Map(declared.map(([name, screen]) => [name, screen.at ?? '']))

/** The paths of all steps; `:name` stands for a benefit's name. */
export const stepPaths: ReadonlySet<string> = new Set([...steps.keys(), 'beneficiaries/:name'])

/** The whole HTML document of a view, in the view's language. Never refuses: every text of the view is escaped. */
export function renderPage(view: View): string {
  // TypeScript cannot see that the screen found under a view's name is drawn from that view.
  const draw = screens[view.view].draw as (view: View) => Content
  return document(view.view, view.page, draw(view))
}

/** The step at a path below the page's root, for newcomers and for members; `undefined`: there is no such path. */
export function stepAt(path: string, visit: Visit): Step<View> | undefined {
  return (visit.isMember ? memberSteps.get(path) : undefined) ?? steps.get(path) ?? beneficiaryStep(path)
}

/** The paths about beneficiaries, which name a benefit. */
function beneficiaryStep(path: string): Step<View> | undefined {
  const [, name] = /^beneficiaries\/([a-z0-9]{2,32})$/.exec(path) ?? []
  return name === undefined ? undefined : beneficiaryEdit(name)
}

/** A step that only leads elsewhere. */
function leadsTo(to: string): Step<never> {
  return { show: () => ({ to }) }
}

/** The first path for a person who has just opened a link, or returns to the page's root. */
export function entryOf(visit: Visit): string {
  const { session, deepLink } = visit
  if (session.outcome !== null) return 'done'
  if (!visit.isMember) return deepLink?.redirectto === 'howtouse' ? 'details' : resumeAt(visit)
  if (deepLink?.redirectto === 'swap' || session.purpose === 'swap') return 'swap'
  if (session.purpose === 'offerchange') return 'offer'
  if (deepLink?.redirectto === 'howtouse') return 'overview'
  return deepLink || session.purpose === 'benefits' ? 'benefits' : 'overview'
}

/**
 * Where a newcomer begins or goes on: with their details until they have chosen benefits, and at the benefits when they
 * came for one that they have not chosen. A former member first sees what can come back.
 */
function resumeAt({ draft: { picks }, deepLink, user }: Visit): string {
  if (picks === undefined || user.status === 'cancelled') return 'details'
  return deepLink && !picks.includes(deepLink.productname) ? 'benefits' : 'check'
}

/**
 * The path of a view without a form, for the redirect after a change of language. It is looked up in the list, so that
 * the form cannot redirect to an address of its own.
 */
export function pathOfView(name: string): string {
  return paths.get(name) ?? ''
}
