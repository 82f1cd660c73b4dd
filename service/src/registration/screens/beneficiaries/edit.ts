import { isDeepStrictEqual } from 'node:util'
import { nameBeneficiariesOf, namingBenefits } from '../../../accounts/beneficiaries.ts'
import type { OpenDesignation } from '../../../membership/records/designations.ts'
import { designationOf } from '../../../membership/rules/designations.ts'
import { enrolmentOf } from '../../../membership/rules/enrolments.ts'
import { isLive, type User } from '../../../membership/rules/state.ts'
import { hasBeneficiary } from '../../../membership/rules/terms.ts'
import { authorOf } from '../../session/author.ts'
import { pageOf, type Visit } from '../../session/visit.ts'
import { dueDay } from '../../steps/cards.ts'
import { changeOwn } from '../../steps/change-own.ts'
import { designationsOf, namingAhead } from '../../steps/naming.ts'
import type { Posted, Step } from '../../steps/step.ts'
import { isFaulty } from '../../views/faults.ts'
import type { BeneficiariesEditView } from './form.ts'
import { addedKind, changesRows, parseBeneficiaries, rowsIn, rowsOf } from './rows.ts'

/**
 * The inputs for the beneficiaries of one benefit, which take effect at once. With `then=done` the person comes here from an
 * agreement, goes on to its confirmation, and can do so without naming anybody.
 */
export function beneficiaryEdit(name: string): Step<BeneficiariesEditView> {
  return {
    show: async (visit, { form, posted }) => {
      const benefit = benefitAt(visit, name)
      if (!benefit) return { to: visit.isMember ? 'beneficiaries' : '' }
      const waiting = enrolmentOf(visit.user, name, one => isLive(one) && one.state === 'actionrequired')
      const isWaiting = waiting !== undefined && !hasBeneficiary(visit.user, benefit)
      const isOnWay = isOnTheWay(visit, form)
      const { outcome } = visit.session
      return {
        view: 'BENEFICIARIES_EDIT',
        page: pageOf(visit),
        name,
        displayname: benefit.displayname[visit.locale],
        rows: posted ? rowsIn(posted) : rowsOf(await peopleOf(visit, name)),
        added: posted && addedKind(posted),
        isonway: isOnWay,
        // The frame tells its host at once what was agreed to; the confirmation that follows does not tell it again.
        outcome: isOnWay && !posted && outcome !== 'challengefailed' ? (outcome ?? undefined) : undefined,
        waits: isWaiting ? { dueon: dueDay(visit, waiting) } : undefined,
        version: posted?.get('version') ?? versionShown(visit.user, name),
      }
    },
    post: async (visit, form) => {
      if (!benefitAt(visit, name)) return { to: visit.isMember ? 'beneficiaries' : '' }
      return changesRows(form) ? 'again' : nameNow(visit, form, name)
    },
  }
}

/** Whether the person comes from an agreement, and goes on to its confirmation. */
function isOnTheWay({ session }: Visit, form: URLSearchParams): boolean {
  return form.get('then') === 'done' && session.outcome !== null
}

function benefitAt({ isMember, user, terms }: Visit, name: string) {
  const found = isMember ? namingBenefits(user, terms) : []
  return found.find(({ benefit }) => benefit.name === name)?.benefit
}

/** The version of a member's beneficiaries that a form is made from; empty while there are none. */
function versionShown(user: User, name: string): string {
  return String(designationOf(user, name)?.version ?? '')
}

async function peopleOf(visit: Visit, name: string): Promise<OpenDesignation['beneficiaries']> {
  const version = designationOf(visit.user, name)?.version
  const versions = version === undefined ? [] : await designationsOf(visit)
  return versions.find(one => one.benefit === name && one.version === version)?.beneficiaries ?? []
}

async function nameNow(visit: Visit, form: URLSearchParams, name: string): Promise<Posted> {
  const beneficiaries = parseBeneficiaries(form, visit.today)
  if (isFaulty(beneficiaries)) return beneficiaries
  const isRepeat = isDeepStrictEqual(await peopleOf(visit, name), beneficiaries)
  const version = form.get('version')
  let named = visit.user
  const reply = await changeOwn(visit, {
    why: 'beneficiaries named',
    decide: ({ user, now, terms }) => {
      // Otherwise a form left open in another window would replace the people named since.
      const isOlder = version !== null && version !== versionShown(user, name)
      if (isOlder) return isRepeat ? 'unchanged' : 'conflict'
      const change = nameBeneficiariesOf(user, { benefit: name, who: authorOf(visit.session) }, now, terms())
      named = change.user
      return { ...change, designations: [{ ...change.designation, beneficiaries }] }
    },
  })
  if (reply === 'conflict') return reply
  if (reply !== 'done') return 'gone'
  if (!isOnTheWay(visit, form)) return { to: 'beneficiaries?saved=yes' }
  return { to: namingAhead({ ...visit, user: named }) ?? 'done?told' }
}
