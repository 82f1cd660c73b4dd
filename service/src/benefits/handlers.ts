import type {
  changeCover,
  declineBenefit,
  enrolBenefit,
  getBenefits,
  HeldBenefit,
  Locale,
  Operation,
  Swap,
  swapBenefits,
  undoCover,
  undoSwap,
  CoverChange as WireCoverChange,
} from '@benefit-enrolment/contract'
import { formatTimestamp, type Instant } from '../calendar/calendar.ts'
import { factClassesOf } from '../catalogue/eligibility.ts'
import { type Handler, type OperationRequest, ReadyJson } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Reader, Reading } from '../membership/reading/reader.ts'
import type { UserMemory } from '../membership/reading/user-memory.ts'
import { type AccountCommands, accepted, decisionOf } from '../membership/requests/account-command.ts'
import {
  consentNames,
  consentsOf,
  type NamedBenefit,
  refusePartnerName,
  refuseUnknown,
} from '../membership/requests/given.ts'
import { isRefusal, type Refusal, refuseField, unknownOffer } from '../membership/rules/refusal.ts'
import { hasEntry, type User } from '../membership/rules/state.ts'
import type { Terms } from '../membership/rules/terms.ts'
import { viewEnrolment } from '../membership/rules/view.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Partner } from '../partners/partner.ts'
import { type CoverChange, changeCoverOf } from './cover.ts'
import { type ListedFacts, listBenefits, listedUntil, sharedStateOf, viewListed } from './listing.ts'
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
    lists: {
      userid: string
      add: readonly string[]
      remove: readonly string[]
      covered: readonly GivenCover[] | undefined
      previewOnly: boolean
    },
  ): Promise<Swap> => {
    const named = [...namesIn('add', lists.add), ...namesIn('remove', lists.remove)]
    const decide = (user: User, now: Instant, terms: Terms) =>
      refuseUnknown(named, { user, terms }) ??
      refuseOthers(lists.covered, lists.add) ??
      swapBenefitsOf(user, lists, now, terms)
    const command = { userid: lists.userid, why: 'swap', isPreview: lists.previewOnly } as const
    return context.commands.change(request, command, (user, now, terms) =>
      decisionOf(decide(user, now, terms), user, viewSwap),
    )
  }

  const swapIn: Handler<typeof swapBenefits, Caller> = request => {
    const { userid, add, remove, covered, previewonly } = request.body
    return swap(request as never, { userid, add, remove, covered, previewOnly: previewonly ?? false })
  }
  const undo: Handler<typeof undoSwap, Caller> = request =>
    swap(request as never, {
      ...{ userid: request.params.userid, add: [], remove: [] },
      covered: undefined,
      previewOnly: false,
    })

  const enrol: Handler<typeof enrolBenefit, Caller> = request => {
    const { userid, name, covered } = request.body
    return context.commands.change(request, { userid, why: 'enrol' }, (user, now, terms) => {
      const named = [{ field: 'name', name }, ...consentNames(request.body.consents)]
      const consents =
        refuseUnknown(named, { user, terms }) ??
        refuseOthers(covered, [name]) ??
        consentsOf(request.body.consents, { terms, now, locale: request.locale })
      if (isRefusal(consents)) return consents
      const made = enrolBenefitOf(user, { name, consents, covered: coveredBy(covered, name) }, now, terms)
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

  const cover = (
    request: OperationRequest<Operation, Caller>,
    asked: { userid: string; name: string; dependants: readonly string[] | undefined; previewOnly: boolean },
  ): Promise<WireCoverChange> => {
    const { userid, name, dependants, previewOnly: isPreview } = asked
    const command = { userid, why: 'cover', isPreview } as const
    return context.commands.change(request, command, (user, now, terms) =>
      decisionOf(
        refuseUnknown([{ field: 'name', name }], { user, terms }) ??
          changeCoverOf(user, { name, dependants }, now, terms),
        user,
        viewCover,
      ),
    )
  }
  const change: Handler<typeof changeCover, Caller> = request => {
    const { userid, name, dependants, previewonly = false } = request.body
    return cover(request as never, { userid, name, dependants, previewOnly: previewonly })
  }
  const callOff: Handler<typeof undoCover, Caller> = request => {
    const [{ userid }, { name }] = [request.params, request.query]
    return cover(request as never, { userid, name, dependants: undefined, previewOnly: false })
  }

  return {
    getBenefits: list,
    changeCover: change,
    undoCover: callOff,
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

type GivenCover = { readonly name: string; readonly dependants: readonly string[] }

/** The ids that a request names for a benefit; `undefined`: it names none. */
function coveredBy(covered: readonly GivenCover[] | undefined, name: string): readonly string[] | undefined {
  return covered?.find(one => one.name === name)?.dependants
}

/** Refuses dependants of benefits that the request does not bring, and of one twice. */
function refuseOthers(covered: readonly GivenCover[] = [], brought: readonly string[]): Refusal | undefined {
  const index = covered.findIndex(
    ({ name }, at) => !brought.includes(name) || covered.findIndex(other => other.name === name) < at,
  )
  return index < 0
    ? undefined
    : refuseField(`covered[${index}].name`, 'unknown', 'must be a benefit that the request adds, once')
}

function viewCover({ userid, serviceId }: User, change: CoverChange): WireCoverChange {
  const state = ({ tier, dependants, cost }: CoverChange['before']) => ({
    tier,
    dependants: [...dependants],
    cost,
  })
  return {
    userid,
    serviceid: serviceId,
    name: change.benefit,
    before: state(change.before),
    after: state(change.after),
    effectiveattimestamp: formatTimestamp(change.effectiveAt),
    lockedattimestamp: formatTimestamp(change.lockedAt),
  }
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

/** The list of benefits as JSON. Refuses an offer that the user cannot ask for. */
type ListJson = (
  reading: Reading,
  asked: ListedFacts,
  by: { partner: Partner; locale: Locale },
) => Buffer | Refusal

/**
 * Makes lists, and repeats an earlier one wherever it would be the same: first an answer to this user, then an answer
 * to any user of the partner in the same state. Without the second a user’s first list costs 27 % more processor time
 * (2026-11-28).
 * Lists are kept as bytes: a text would be copied and encoded for each answer.
 */
function openLists({
  memory,
  baseUrl,
}: {
  memory: Pick<UserMemory, 'shared' | 'noteAnswer'>
  baseUrl: () => string
}): ListJson {
  return (reading, asked, { partner, locale }) => {
    const { user, terms, now, answers } = reading
    const { version, catalogue } = terms.today
    const from = { partner, catalogue: version, now }
    // No other field of the request decides what is listed. The offer's name comes last, because it may contain
    // anything.
    const question = `${locale} ${factClassesOf(catalogue)(asked)} ${asked.offername ?? ''}`
    const own = answers?.find(question, from)
    if (own !== undefined) {
      memory.noteAnswer(true)
      return own
    }
    const state = sharedStateOf(user, now)
    const shared = state === undefined ? undefined : `${partner.partnerId} ${state} ${question}`
    const found = shared === undefined ? undefined : memory.shared.find(shared, from)
    memory.noteAnswer(found !== undefined)
    if (found !== undefined && answers === undefined) return found
    const json = found ?? listed(reading, asked, locale)
    if (json === undefined) return unknownOffer
    const answer = { json, until: listedUntil(reading) }
    if (found === undefined && shared !== undefined) memory.shared.keep(shared, from, answer)
    answers?.keep(question, from, answer)
    return answer.json
  }

  function listed(reading: Reading, asked: ListedFacts, locale: Locale): Buffer | undefined {
    const benefits = listBenefits(reading, asked)
    return benefits && bytesOf(JSON.stringify(benefits.map(one => viewListed(one, locale, baseUrl()))))
  }
}

/** Bytes in memory of their own. `Buffer.from` would put short ones into a block that all of them keep alive. */
function bytesOf(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return bytes
}
