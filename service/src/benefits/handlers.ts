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
import { formatTimestamp } from '../calendar/calendar.ts'
import type { Handler } from '../http/mount.ts'
import { type OperationRequest, ReadyJson } from '../http/operation-request.ts'
import { ServiceError } from '../http/service-error.ts'
import type { AccountCommands } from '../membership/account-command.ts'
import { problemOfRefusal } from '../membership/answer.ts'
import { consentsOf } from '../membership/consents.ts'
import type { Reader } from '../membership/reader.ts'
import { isRefusal } from '../membership/refusal.ts'
import { type Enrolment, hasEntry, type User } from '../membership/state.ts'
import type { Terms } from '../membership/terms.ts'
import { viewEnrolment } from '../membership/view.ts'
import type { Caller } from '../partners/authenticate.ts'
import { listBenefits, openFragments } from './listing.ts'
import { declineBenefitOf, enrolBenefitOf } from './single.ts'
import { type SwapChange, swapBenefitsOf } from './swap.ts'

/** Lists benefits with their status, swaps, enrols and declines single ones (contract §6 and §8). */
export const benefitHandlers = (context: {
  reader: Reader
  commands: AccountCommands
  baseUrl: () => string
}) => {
  const fragment = openFragments(context.baseUrl)

  const list: Handler<typeof getBenefits, Caller> = async request => {
    const { partner } = request.caller
    const { body } = request
    if (
      body.partnername &&
      ![partner.name, ...partner.aliases].some(name => isSameName(name, body.partnername ?? ''))
    ) {
      throw new ServiceError('partnername_not_allowed')
    }
    const reading = await context.reader.read(partner, body.userid)
    if (!reading || !hasEntry(reading.user, reading.now)) throw new ServiceError('user_not_found')
    const listed = listBenefits(reading, body)
    if (!listed) throw new ServiceError('offername_unknown')
    return new ReadyJson(`[${listed.map(one => fragment(one, request.locale)).join(',')}]`)
  }

  const swap = async (
    request: OperationRequest<Operation, Caller>,
    lists: { userid: string; add: readonly string[]; remove: readonly string[]; previewOnly: boolean },
  ): Promise<Swap> => {
    if (lists.previewOnly) {
      const { user, terms, now } = await context.commands.look(request, lists.userid)
      const change = swapBenefitsOf(user, lists, now, terms)
      if (isRefusal(change)) throw problemOfRefusal(change, request.locale)
      return viewSwap(change, { userid: user.userid, serviceid: user.serviceId })
    }
    return context.commands.change(request, { userid: lists.userid, why: 'swap' }, (user, now, terms) => {
      const change = swapBenefitsOf(user, lists, now, terms)
      if (isRefusal(change)) return change
      return {
        ...(change.user === user ? {} : { change }),
        answer: () => viewSwap(change, { userid: user.userid, serviceid: user.serviceId }),
      }
    })
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
      const consents = consentsOf(request.body.consents ?? [], { terms, now, locale: request.locale })
      const change = enrolBenefitOf(user, { name, consents }, now, terms)
      if (isRefusal(change)) return change
      return { change, answer: after => viewOf(change.enrolment, after, { terms, locale: request.locale }) }
    })
  }

  const decline: Handler<typeof declineBenefit, Caller> = request => {
    const { userid, name, reason } = request.body
    // A free text could hold personal data, which must not reach the plain history.
    const why = reason ? 'declined, with a reason' : 'declined'
    return context.commands.change(request, { userid, why }, (user, now, terms) => {
      const change = declineBenefitOf(user, name, now, terms)
      if (isRefusal(change)) return change
      return { change, answer: after => viewOf(change.enrolment, after, { terms, locale: request.locale }) }
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

/** The enrolment as it stands after the change: a pending change may date its end. */
const viewOf = (enrolment: Enrolment, after: User, context: { terms: Terms; locale: Locale }): HeldBenefit =>
  viewEnrolment(after.enrolments.find(one => one.id === enrolment.id) ?? enrolment, {
    user: after,
    ...context,
  })

const isSameName = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

const viewSwap = (change: SwapChange, user: { userid: string; serviceid: string }): Swap => ({
  ...user,
  add: [...change.add],
  remove: [...change.remove],
  boundarytimestamp: formatTimestamp(change.boundary),
  lockedattimestamp: formatTimestamp(change.lockedAt),
})
