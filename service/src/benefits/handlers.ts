import type {
  declineBenefit,
  enrolBenefit,
  getBenefits,
  HeldBenefit,
  Locale,
  Operation,
  Swap,
  swapBenefits,
  undoSwap,
} from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import type { Handler } from '../http/mount.ts'
import { type OperationRequest, ReadyJson } from '../http/operation-request.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Reader } from '../membership/reading/reader.ts'
import type { UserMemory } from '../membership/reading/user-memory.ts'
import { type AccountCommands, accepted, decisionOf } from '../membership/requests/account-command.ts'
import {
  consentNames,
  consentsOf,
  type NamedBenefit,
  refusePartnerName,
  refuseUnknown,
} from '../membership/requests/given.ts'
import { isRefusal } from '../membership/rules/refusal.ts'
import { hasEntry, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import { viewEnrolment } from '../membership/rules/view.ts'
import type { Caller } from '../partners/authenticate.ts'
import { openLists } from './lists.ts'
import { declineBenefitOf, enrolBenefitOf, type SingleChange } from './single.ts'
import { type SwapChange, swapBenefitsOf } from './swap.ts'

/** Lists benefits with their status, swaps, enrols and declines single ones (contract §6 and §8). */
export function benefitHandlers(context: {
  reader: Reader
  commands: AccountCommands
  memory: Pick<UserMemory, 'shared' | 'noteAnswer'>
  baseUrl: () => string
}) {
  const listOf = openLists(context)

  const list: Handler<typeof getBenefits, Caller> = async request => {
    const { partner } = request.caller
    const { body } = request
    accepted(refusePartnerName(partner, body.partnername), request)
    const reading = await context.reader.read(partner, body.userid)
    if (!reading || !hasEntry(reading.user, reading.now)) throw new ServiceError('user_not_found')
    return new ReadyJson(accepted(listOf(reading, body, { partner, locale: request.locale }), request))
  }

  const swap = async (
    request: OperationRequest<Operation, Caller>,
    lists: { userid: string; add: readonly string[]; remove: readonly string[]; previewOnly: boolean },
  ): Promise<Swap> => {
    const named = [...namesIn('add', lists.add), ...namesIn('remove', lists.remove)]
    const decide = (user: User, now: Instant, terms: Terms) =>
      refuseUnknown(named, { user, terms }) ?? swapBenefitsOf(user, lists, now, terms)
    const command = { userid: lists.userid, why: 'swap', isPreview: lists.previewOnly } as const
    return context.commands.change(request, command, (user, now, terms) =>
      decisionOf(decide(user, now, terms), user, viewSwap),
    )
  }

  const swapIn: Handler<typeof swapBenefits, Caller> = request => {
    const { userid, add, remove, previewonly } = request.body
    return swap(request as never, { userid, add, remove, previewOnly: previewonly ?? false })
  }
  const undo: Handler<typeof undoSwap, Caller> = request =>
    swap(request as never, { userid: request.params.userid, add: [], remove: [], previewOnly: false })

  const enrol: Handler<typeof enrolBenefit, Caller> = request => {
    const { userid, name } = request.body
    return context.commands.change(request, { userid, why: 'enrol' }, (user, now, terms) => {
      const named = [{ field: 'name', name }, ...consentNames(request.body.consents)]
      const consents =
        refuseUnknown(named, { user, terms }) ??
        consentsOf(request.body.consents, { terms, now, locale: request.locale })
      if (isRefusal(consents)) return consents
      const made = enrolBenefitOf(user, { name, consents }, now, terms)
      return decisionOf(made, user, viewIn({ terms, locale: request.locale }))
    })
  }

  const decline: Handler<typeof declineBenefit, Caller> = request => {
    const { userid, name, reason } = request.body
    // A free text could contain personal data, which must not reach the unencrypted history.
    const why = reason ? 'declined, with a reason' : 'declined'
    return context.commands.change(request, { userid, why }, (user, now, terms) => {
      const unknown = refuseUnknown([{ field: 'name', name }], { user, terms })
      const made = unknown ?? declineBenefitOf(user, name, now, terms)
      return decisionOf(made, user, viewIn({ terms, locale: request.locale }))
    })
  }

  return {
    getBenefits: list,
    swapBenefits: swapIn,
    undoSwap: undo,
    enrolBenefit: enrol,
    declineBenefit: decline,
  }
}

/** Shows the enrolment as it is after its change; a pending change may give it an end date. */
function viewIn(context: { terms: Terms; locale: Locale }) {
  return (after: User, { enrolment }: SingleChange): HeldBenefit =>
    viewEnrolment(after.enrolments.find(one => one.id === enrolment.id) ?? enrolment, {
      user: after,
      ...context,
    })
}

function namesIn(list: string, names: readonly string[]): NamedBenefit[] {
  return names.map((name, index) => ({ field: `${list}[${index}]`, name }))
}

function viewSwap({ userid, serviceId }: User, change: SwapChange): Swap {
  return {
    userid,
    serviceid: serviceId,
    add: [...change.add],
    remove: [...change.remove],
    boundarytimestamp: formatTimestamp(change.boundary),
    lockedattimestamp: formatTimestamp(change.lockedAt),
  }
}
