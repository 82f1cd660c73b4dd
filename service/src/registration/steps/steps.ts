import type { Visit } from '../session/visit.ts'
import { detailsGroups } from '../views/details.ts'
import type { View } from '../views/model.ts'
import { beneficiaryEdit, beneficiaryList } from './beneficiary-steps.ts'
import { behindBirthdate } from './birthdate-again.ts'
import { cancel } from './cancel-steps.ts'
import { challenge } from './challenge.ts'
import { cancelUndo, comeback } from './comeback-steps.ts'
import { edit, review } from './details-steps.ts'
import { check, enrol, none } from './enrolling-steps.ts'
import { memberBenefits, memberCheck, memberEnrol } from './member-steps.ts'
import { offer, offerConfirm, offerUndo } from './offer-steps.ts'
import { done, overview } from './outcomes.ts'
import { benefits, plan, resumeAt } from './registering-steps.ts'
import type { Step } from './step.ts'
import { swap, swapChoose, swapConfirm, swapUndo } from './swap-steps.ts'

/** The step at a path below the page's root, for newcomers and for members; `undefined`: there is no such path. */
export function stepAt(path: string, visit: Visit): Step | undefined {
  return (visit.isMember ? memberSteps.get(path) : undefined) ?? steps.get(path) ?? beneficiaryStep(path)
}

/** The paths about beneficiaries, which name a benefit. */
function beneficiaryStep(path: string): Step | undefined {
  const [, name] = /^beneficiaries\/([a-z0-9]{2,32})$/.exec(path) ?? []
  return name === undefined ? undefined : behindBirthdate(path, beneficiaryEdit(name))
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
 * The path of a view without a form, for the redirect after a change of language. It is looked up in a list, so that the
 * form cannot redirect to an address of its own.
 */
export function pathOfView(name: string): string {
  return paths.get(name) ?? ''
}

const paths: ReadonlyMap<string, string> = new Map<View['view'], string>([
  // The frame tells its host of a confirmation once, and not again because it is shown in another language.
  ['DONE', 'done?told'],
  ['ALREADY_ENROLLED', 'overview'],
  ['NO_BENEFITS', 'none'],
  ['DETAILS_REVIEW', 'details'],
  ['BENEFITS', 'benefits'],
  ['SWAP', 'swap'],
  ['OFFER_CHANGE', 'offer'],
  ['BENEFICIARIES', 'beneficiaries'],
])

const steps: ReadonlyMap<string, Step> = new Map([
  ['challenge', challenge],
  ['comeback', comeback],
  ['details', review],
  ...detailsGroups.map(group => [`details/${group}`, edit(group)] as const),
  ['plan', plan],
  ['benefits', benefits],
  ['check', check],
  ['enrol', enrol],
  ['none', none],
  ['done', done],
  ['overview', overview],
  ['swap', swap],
  ['swap/choose', swapChoose],
  ['swap/confirm', swapConfirm],
  ['swap/undo', swapUndo],
  ['offer', offer],
  ['offer/confirm', offerConfirm],
  ['offer/undo', offerUndo],
  ['beneficiaries', behindBirthdate('beneficiaries', beneficiaryList)],
  ['cancel', cancel],
  ['cancel/undo', cancelUndo],
])

const memberSteps: ReadonlyMap<string, Step> = new Map([
  ['plan', { show: () => ({ to: 'overview' }) }],
  ['none', { show: () => ({ to: 'overview' }) }],
  ['benefits', memberBenefits],
  ['check', memberCheck],
  ['enrol', memberEnrol],
])

/** The paths of all steps; `:name` stands for a benefit's name. */
export const stepPaths: ReadonlySet<string> = new Set([
  ...steps.keys(),
  ...memberSteps.keys(),
  'beneficiaries/:name',
])
