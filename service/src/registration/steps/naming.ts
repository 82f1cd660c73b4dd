import type { Benefit } from '../../catalogue/model.ts'
import {
  type NewDesignation,
  type OpenDesignation,
  readDesignations,
} from '../../membership/records/designations.ts'
import type { NamedBeneficiary } from '../../membership/rules/beneficiaries.ts'
import { designationOf, withDesignation } from '../../membership/rules/designations.ts'
import { type Designation, heldEnrolment, type User } from '../../membership/rules/state.ts'
import { hasBeneficiary } from '../../membership/rules/terms.ts'
import type { Draft } from '../session/answers.ts'
import type { Visit } from '../session/visit.ts'
import type { NamingLine } from '../views/parts.ts'
import type { Redirect } from './step.ts'

/**
 * The beneficiaries that a newcomer has named for a benefit in this registration; `undefined` when none were named or
 * it was put off.
 */
export function namedInDraft(draft: Draft, benefit: string): readonly NamedBeneficiary[] | undefined {
  const named = draft.beneficiaries?.[benefit]
  return named === 'later' ? undefined : named
}

/**
 * The view from which a person came to name somebody, with the choice made there; `undefined` unless it is the confirmation
 * of a swap or of a plan change, so that a form cannot lead anywhere else.
 */
export function afterNaming(form: URLSearchParams): string | undefined {
  const next = form.get('next') ?? ''
  return /^(swap|offer)\/confirm\?[\w.=&]{1,2000}$/.test(next) ? next : undefined
}

/**
 * The beneficiaries for benefits that the person is about to get, as the view before the agreement shows them. `next`
 * is that view, if the path alone does not lead back to it.
 */
export function namingLines(
  visit: Visit,
  benefits: readonly Benefit[],
  next?: string,
): readonly NamingLine[] {
  return benefits.flatMap(benefit => {
    if (benefit.beneficiaries === undefined) return []
    const people = visit.isMember ? undefined : namedInDraft(visit.draft, benefit.name)
    const isKnown = designationOf(visit.user, benefit.name) !== undefined
    const standing = people ? 'here' : !isKnown ? 'nobody' : visit.isMember ? 'named' : 'before'
    return [
      {
        name: benefit.name,
        displayname: benefit.displayname[visit.locale],
        standing,
        isrequired: benefit.beneficiaries === 'required',
        people,
        next,
      } as const,
    ]
  })
}

/**
 * The path to name a beneficiary for the first of these benefits that requires one, where the person has neither named
 * one nor put it off; `undefined` when there is none. It continues with `next`, if that is not the usual path.
 */
export function namingFirst(visit: Visit, benefits: readonly Benefit[], next?: string): Redirect | undefined {
  const first = benefits.find(
    benefit => !hasBeneficiary(visit.user, benefit) && !isSaid(visit, benefit, next),
  )
  const query = next === undefined ? '' : `?${new URLSearchParams({ next })}`
  return first && { to: `beneficiaries/${first.name}${query}` }
}

/** Whether a newcomer has named somebody or put it off, or a member has put it off; in a swap nobody can. */
function isSaid(visit: Visit, { name }: Benefit, next = ''): boolean {
  const said = visit.draft.beneficiaries?.[name]
  if (!visit.isMember) return said !== undefined
  return said === 'later' && mayNameLater(visit, name) && !next.startsWith('swap/')
}

/** Whether naming can be put off: not for a benefit that the person holds, because that one waits for it already. */
export function mayNameLater({ user }: Visit, benefit: string): boolean {
  return heldEnrolment(user, benefit) === undefined
}

/** The user with the draft's beneficiaries for benefits that begin now, and the data to seal. */
export function withDraftNames(
  user: User,
  draft: Draft,
  begun: {
    readonly benefits: readonly Benefit[]
    readonly at: number
    readonly who: Designation['who']
  },
): { readonly user: User; readonly designations: readonly NewDesignation[] } {
  let named = user
  const designations: NewDesignation[] = []
  for (const { name, beneficiaries } of begun.benefits) {
    const people = beneficiaries && namedInDraft(draft, name)
    if (!people) continue
    const added = withDesignation(named, { benefit: name, who: begun.who, at: begun.at })
    named = added.user
    designations.push({ ...added.designation, beneficiaries: people })
  }
  return { user: named, designations }
}

/** All versions of the beneficiaries that this person has named. */
export function versionsOf({ context, partner, user }: Visit): Promise<readonly OpenDesignation[]> {
  return readDesignations(context.database, { partner, user })
}
