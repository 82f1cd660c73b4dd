import { isDeepStrictEqual } from 'node:util'
import { nameBeneficiariesOf, namingBenefits } from '../../../accounts/beneficiaries.ts'
import type { Benefit } from '../../../catalogue/model.ts'
import type { OpenDesignation } from '../../../membership/records/designations.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import type { User } from '../../../membership/rules/state.ts'
import { hasBeneficiary, openBenefit, partnerOffer } from '../../../membership/rules/terms.ts'
import { authorOf } from '../../session/author.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { changeOwn } from '../../steps/change-own.ts'
import { afterNaming, mayNameLater, namedInDraft, versionsOf } from '../../steps/naming.ts'
import { chosenByNewcomer, stepOf } from '../../steps/plans.ts'
import { isStale, saveAnswers } from '../../steps/save-answers.ts'
import type { Posted, Step } from '../../steps/step.ts'
import { isFaulty } from '../../views/faults.ts'
import type { BeneficiariesEditView } from './form.ts'
import { addedKind, changesRows, namesNobody, parseBeneficiaries, rowsIn, rowsOf } from './rows.ts'

/**
 * The inputs for the beneficiaries of one benefit: a member's answers take effect at once, a newcomer's with the
 * enrolment.
 */
export function beneficiaryEdit(name: string): Step<BeneficiariesEditView> {
  return {
    show: async (visit, typed) => {
      const next = afterNaming(typed.form)
      const benefit = benefitAt(visit, name, next)
      if (!benefit) return { to: visit.isMember ? 'beneficiaries' : 'check' }
      return {
        view: 'BENEFICIARIES_EDIT',
        page: pageOf(visit, visit.isMember ? undefined : stepOf(visit, 'benefits')),
        name,
        displayname: benefit.displayname[visit.locale],
        rows: typed.posted ? rowsIn(typed.posted) : rowsOf(await peopleOf(visit, name)),
        added: typed.posted && addedKind(typed.posted),
        back: backFrom(visit, benefit, next),
        goeson: !visit.isMember || next !== undefined || isBeingAdded(visit, name),
        maylater: mayLater(visit, benefit, next),
        next,
        version: visit.isMember
          ? (typed.posted?.get('version') ?? versionShown(visit.user, name))
          : undefined,
      }
    },
    post: async (visit, form) => {
      const next = afterNaming(form)
      const benefit = benefitAt(visit, name, next)
      if (!benefit) return { to: visit.isMember ? 'beneficiaries' : 'check' }
      if (changesRows(form)) return 'again'
      if (isStale(visit, form)) return 'conflict'
      const isLater = form.has('later') && mayLater(visit, benefit, next)
      if (visit.isMember && !isLater) return nameNow(visit, form, { name, next })
      return nameInDraft(visit, form, { benefit, isLater, next })
    },
  }
}

function benefitAt(visit: Visit, name: string, next: string | undefined): Benefit | undefined {
  const benefits = visit.isMember
    ? [
        ...namingBenefits(visit.user, visit.terms).map(({ benefit }) => benefit),
        ...benefitsAhead(visit, next),
      ]
    : chosenByNewcomer(visit).filter(({ beneficiaries }) => beneficiaries !== undefined)
  return benefits.find(benefit => benefit.name === name)
}

/** The benefits that take beneficiaries and come with the plan to which the person is about to move. */
function benefitsAhead({ terms }: Visit, next = ''): readonly Benefit[] {
  const offername = new URLSearchParams(next.split('?')[1]).get('offername') ?? ''
  const comes = partnerOffer(terms, offername)?.fixed ?? []
  return comes
    .flatMap(name => openBenefit(terms, name) ?? [])
    .filter(({ beneficiaries }) => beneficiaries !== undefined)
}

/**
 * The path of the back link. While nobody is named, it skips the view that requires the naming, because that view would lead
 * here again.
 */
function backFrom(visit: Visit, benefit: Benefit, next: string | undefined): string {
  const isNamed = hasBeneficiary(visit.user, benefit)
  if (next !== undefined) return isNamed ? next : (next.split('/')[0] ?? '')
  if (!visit.isMember) return 'benefits'
  return isBeingAdded(visit, benefit.name) ? 'benefits' : 'beneficiaries'
}

/** Whether a member has chosen this benefit and not yet agreed to it. */
function isBeingAdded({ isMember, draft }: Visit, name: string): boolean {
  return isMember && (draft.picks?.includes(name) ?? false)
}

/**
 * Whether naming can be put off here; the benefit then waits for it. In a swap it cannot, because a swap happens on its day.
 */
function mayLater(visit: Visit, benefit: Benefit, next: string | undefined): boolean {
  if (hasBeneficiary(visit.user, benefit) || !mayNameLater(visit, benefit.name)) return false
  return !visit.isMember || (next?.startsWith('offer/') ?? isBeingAdded(visit, benefit.name))
}

/** The version of a member's beneficiaries that a form is made from; empty while there are none. */
function versionShown(user: User, name: string): string {
  return String(designationOf(user, name)?.version ?? '')
}

async function peopleOf(visit: Visit, name: string): Promise<OpenDesignation['beneficiaries']> {
  // A former member begins anew: a link alone does not show the beneficiaries of the earlier membership.
  if (!visit.isMember) return namedInDraft(visit.draft, name) ?? []
  const version = designationOf(visit.user, name)?.version
  const versions = version === undefined ? [] : await versionsOf(visit)
  return versions.find(one => one.benefit === name && one.version === version)?.beneficiaries ?? []
}

async function nameInDraft(
  visit: Visit,
  form: URLSearchParams,
  asked: { readonly benefit: Benefit; readonly isLater: boolean; readonly next: string | undefined },
): Promise<Posted> {
  const { benefit, isLater, next = 'check' } = asked
  const { name } = benefit
  const isCleared = namesNobody(form) && benefit.beneficiaries === 'optional'
  const parsed = isLater || isCleared ? undefined : parseBeneficiaries(form, visit.today)
  if (parsed && isFaulty(parsed)) return parsed
  return saveAnswers(visit, { form, to: next }, draft => {
    const { [name]: _, ...others } = draft.beneficiaries ?? {}
    if (isCleared) return { ...draft, beneficiaries: others }
    return { ...draft, beneficiaries: { ...others, [name]: parsed ?? 'later' } }
  })
}

async function nameNow(
  visit: Visit,
  form: URLSearchParams,
  { name, next }: { readonly name: string; readonly next: string | undefined },
): Promise<Posted> {
  const beneficiaries = parseBeneficiaries(form, visit.today)
  if (isFaulty(beneficiaries)) return beneficiaries
  const isRepeat = isDeepStrictEqual(await peopleOf(visit, name), beneficiaries)
  const version = form.get('version')
  const reply = await changeOwn(visit, {
    why: 'beneficiaries named',
    decide: ({ user, now, terms }) => {
      // Otherwise a form left open in another window would replace the people named since.
      const isOlder = version !== null && version !== versionShown(user, name)
      if (isOlder) return isRepeat ? 'unchanged' : 'conflict'
      const change = nameBeneficiariesOf(user, { benefit: name, who: authorOf(visit.session) }, now, terms())
      return { ...change, designations: [{ ...change.designation, beneficiaries }] }
    },
  })
  if (reply === 'conflict') return reply
  if (reply !== 'done') return 'gone'
  return { to: next ?? (isBeingAdded(visit, name) ? 'check' : 'beneficiaries?saved=yes') }
}
