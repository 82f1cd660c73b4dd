import { beneficiaryEdit, beneficiaryList } from './screens/beneficiaries/people.ts'
import { benefits, memberBenefits } from './screens/benefits/choose.ts'
import { cancel, cancelUndo } from './screens/cancel.ts'
import { challenge } from './screens/challenge.ts'
import { check, enrol, memberCheck, memberEnrol } from './screens/check.ts'
import { edit } from './screens/details/edit.ts'
import { comeback, review } from './screens/details/review.ts'
import { done } from './screens/done.ts'
import { cover, coverConfirm, coverUndo } from './screens/family/cover.ts'
import { familyPerson } from './screens/family/person.ts'
import { none } from './screens/none.ts'
import { offer, offerUndo } from './screens/offer/change.ts'
import { offerConfirm } from './screens/offer/confirm.ts'
import { overview } from './screens/overview.ts'
import { plan } from './screens/plan.ts'
import { swap, swapUndo } from './screens/swap/choose.ts'
import { swapConfirm } from './screens/swap/confirm.ts'
import type { Visit } from './session/visit.ts'
import type { Step } from './steps/step.ts'
import { detailsGroups } from './views/details.ts'
import type { ViewName } from './views/layout.ts'

/** What each path shows, below the page's root. */
const steps: Readonly<Record<string, Step>> = {
  challenge,
  details: review,
  comeback,
  ...Object.fromEntries(detailsGroups.map(group => [`details/${group}`, edit(group)])),
  plan,
  none,
  benefits,
  check,
  enrol,
  done,
  overview,
  swap,
  'swap/undo': swapUndo,
  'swap/confirm': swapConfirm,
  offer,
  'offer/undo': offerUndo,
  'offer/confirm': offerConfirm,
  beneficiaries: beneficiaryList,
  cancel,
  'cancel/undo': cancelUndo,
}

/** The steps that members have instead. */
const memberSteps: Readonly<Record<string, Step>> = {
  plan: leadsTo('overview'),
  none: leadsTo('overview'),
  benefits: memberBenefits,
  check: memberCheck,
  enrol: memberEnrol,
}

/** Where each view that may have no form is shown again after a change of language. */
const paths: ReadonlyMap<string, string> = new Map<ViewName, string>([
  ['DETAILS_REVIEW', 'details'],
  ['NO_BENEFITS', 'none'],
  ['BENEFITS', 'benefits'],
  // The frame tells its host of a confirmation once, and not again because it is shown in another language.
  ['DONE', 'done?told'],
  ['ALREADY_ENROLLED', 'overview'],
  ['SWAP', 'swap'],
  ['OFFER_CHANGE', 'offer'],
  ['BENEFICIARIES', 'beneficiaries'],
])

/** The paths of all steps; `:name` stands for a benefit's name. */
export const stepPaths: ReadonlySet<string> = new Set([
  ...Object.keys(steps),
  'beneficiaries/:name',
  'family/:name',
  'cover/:name',
  'cover/:name/confirm',
  'cover/:name/undo',
])

/** The step at a path below the page's root, for newcomers and for members; `undefined`: there is no such path. */
export function stepAt(path: string, visit: Visit): Step | undefined {
  const own = visit.isMember && Object.hasOwn(memberSteps, path) ? memberSteps : steps
  return Object.hasOwn(own, path) ? own[path] : stepOfBenefit(path)
}

/** The paths that name a benefit: those about beneficiaries, and about whom it covers. */
function stepOfBenefit(path: string): Step | undefined {
  const [, about = '', name = '', then = ''] = /^(\w+)\/([a-z0-9]{2,32})(\/\w+)?$/.exec(path) ?? []
  const kind = about + then
  return Object.hasOwn(benefitSteps, kind) ? benefitSteps[kind]?.(name) : undefined
}

const benefitSteps: Readonly<Record<string, (name: string) => Step>> = {
  beneficiaries: beneficiaryEdit,
  family: familyPerson,
  cover,
  'cover/confirm': coverConfirm,
  'cover/undo': coverUndo,
}

/** A step that only leads elsewhere. */
function leadsTo(to: string): Step {
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
