import {
  type CreateUser,
  type cancelUser,
  type createUser,
  type ErasedUser,
  type eraseUser,
  errors,
  type getUser,
  type reinstateUser,
  type updateUser,
} from '@benefit-enrolment/contract'
import { noteRead, type Trail } from '../audit/trail.ts'
import type { Handler } from '../http/mount.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ListedErasure } from '../membership/erasure-list/list.ts'
import type { Reader } from '../membership/reading/reader.ts'
import type { NoteRefused } from '../membership/records/refused-creates.ts'
import { type AccountCommands, accepted } from '../membership/requests/account-command.ts'
import {
  consentsOf,
  refuseBirthDate,
  refuseBirthDates,
  refusePartnerName,
} from '../membership/requests/given.ts'
import { accountOf, activeAccountOf } from '../membership/rules/account.ts'
import {
  mergePerson,
  missingForAccount,
  type Person,
  personSent,
  residenceOf,
  tooManyDetails,
  updatedPerson,
} from '../membership/rules/person.ts'
import { because, isRefusal, type Refusal, refuse } from '../membership/rules/refusal.ts'
import { isKnown } from '../membership/rules/state.ts'
import { viewTimeline, viewUser } from '../membership/rules/view.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock } from '../partners/partner.ts'
import { viewCancelled, viewErased, withDetails, withInsurers } from './answers.ts'
import { dependantOf } from './dependants.ts'
import { cancelAccount, createAccount, eraseAccount, type NamedFamily, updateAccount } from './lifecycle.ts'
import { readCreate } from './read-create.ts'
import { reinstateAccount } from './reinstate.ts'

/** Refusals with these statuses are recorded: invalid data (400) and rules that refuse the person (422). */
const recordedStatuses: ReadonlySet<number> = new Set([400, 422])

/** Creates, fetches, updates, cancels, reinstates and erases users (contract §7). */
export function accountHandlers(context: {
  commands: AccountCommands
  reader: Reader
  clock: Clock
  /** Adds an erasure to the list outside the database; rejects when it is not on the disk. */
  noteErasure: (erasure: ListedErasure) => Promise<void>
  /** Records that a create was refused, and why. */
  noteRefused: NoteRefused
  /** Records who fetched which user. */
  trail: Pick<Trail, 'note'>
}) {
  const { commands, reader, clock, noteErasure, noteRefused, trail } = context

  const create: Handler<typeof createUser, Caller> = async request => {
    try {
      return await tryCreate(request)
    } catch (error) {
      if (error instanceof ServiceError && recordedStatuses.has(errors[error.code].status)) {
        const reasons = error.errors.map(({ field, code }) => ({ field, code }))
        const refused = { at: clock.real(), requestId: request.requestId, code: error.code, reasons }
        noteRefused(request.caller.partner, request.body.userid, refused)
      }
      throw error
    }
  }

  const tryCreate: Handler<typeof createUser, Caller> = async request => {
    const { partner } = request.caller
    const { body } = request
    accepted(refusePartnerName(partner, body.partnername), request)
    const today = { now: clock.now(partner), zone: partner.timezone }
    accepted(refuseBirthDate(body.dob, today) ?? refuseBirthDates(body.dependants ?? [], today), request)
    return commands.run(request, { userid: body.userid, why: 'create', startsAnew: true }, commandContext => {
      const stored = commandContext.member?.user
      const input = readCreate(body, partner, commandContext)
      if (isRefusal(input)) return input
      if (stored?.status === 'active') return refuse('user_exists')
      const entry =
        stored?.entryExpiresAt === undefined ? undefined : commandContext.member?.person('prefill')
      const family = body.dependants && familyOf(body.dependants, commandContext.terms().newId)
      const people = family ?? (stored?.dependantsVersion === undefined ? undefined : [])
      const person: Person = {
        ...mergePerson(entry, personSent(body)),
        ...(people && { dependants: people.map(({ dependant }) => dependant) }),
      }
      const missing = missingForAccount(person)
      if (missing.length > 0) return refuseMissing(missing, 'is required')
      const excess = tooManyDetails(person)
      if (excess) return excess
      const terms = commandContext.terms(person)
      const consents = consentsOf(body.consents, { terms, now: commandContext.now, locale: request.locale })
      if (isRefusal(consents)) return consents
      const { offer, startsAt } = input
      const start = { offer, picks: body.benefits ?? [], consents, startsAt, family }
      const created = createAccount(commandContext.orNew(), start, commandContext.now, terms)
      if (isRefusal(created)) return created
      return {
        change: { ...created, documents: { profile: person, prefill: null, draft: null } },
        answer: after => withDetails(viewUser(after, terms, request.locale), person),
      }
    })
  }

  const get: Handler<typeof getUser, Caller> = async request => {
    const { partner } = request.caller
    const reading = await reader.read(partner, request.body.userid)
    const isErased = reading?.user.status === 'erased'
    if (!reading || !(isErased || isKnown(reading.user))) throw new ServiceError('user_not_found')
    noteRead(trail, 'getUser', request, reading.user.serviceId)
    if (isErased) return viewErased(reading.user)
    const people = await reader.documents(partner, reading.user)
    const view = withDetails(viewUser(reading.user, reading.terms, request.locale), people.get('profile'))
    const { include = [] } = request.body
    return {
      ...view,
      ...(include.includes('insurer') && {
        benefits: withInsurers(view.benefits, await reader.insurerLines(partner, reading.user)),
      }),
      ...(include.includes('timeline') && {
        timeline: viewTimeline(reading.user, await reader.history(reading)),
      }),
    }
  }

  const update: Handler<typeof updateUser, Caller> = async request => {
    const { partner } = request.caller
    const { userid, partnername, ...fields } = request.body
    accepted(refusePartnerName(partner, partnername), request)
    accepted(refuseBirthDate(fields.dob, { now: clock.now(partner), zone: partner.timezone }), request)
    return commands.run(request, { userid, why: 'update' }, commandContext => {
      const found = activeAccountOf(commandContext.member)
      if (isRefusal(found)) return found
      const stored = commandContext.member?.person('profile') ?? {}
      const person = updatedPerson(stored, fields)
      const missing = missingForAccount(person)
      if (missing.length > 0) return refuseMissing(missing, 'must not be cleared')
      const excess = tooManyDetails(person)
      if (excess) return excess
      const terms = commandContext.terms(person)
      const updated = updateAccount(found.user, livesElsewhere(stored, person), commandContext.now, terms)
      return {
        change: { ...updated, documents: { profile: person } },
        answer: after => withDetails(viewUser(after, terms, request.locale), person),
      }
    })
  }

  const cancel: Handler<typeof cancelUser, Caller> = async request => {
    const { userid } = request.params
    const { effective = 'endofperiod', reason = 'voluntary' } = request.query
    const isPreview = request.query.previewonly === 'true'
    return commands.run(request, { userid, why: `cancel: ${reason}`, isPreview }, commandContext => {
      const found = accountOf(commandContext.member)
      if (isRefusal(found)) return found
      const { user } = found
      const terms = commandContext.terms()
      const change = cancelAccount(user, { effective, reason }, commandContext.now, terms)
      return {
        ...(change.user === user ? {} : { change }),
        answer: after => viewCancelled(after, terms),
      }
    })
  }

  const reinstate: Handler<typeof reinstateUser, Caller> = async request => {
    const { userid } = request.body
    return commands.run(request, { userid, why: 'reinstate' }, commandContext => {
      const found = accountOf(commandContext.member)
      if (isRefusal(found)) return found
      const terms = commandContext.terms()
      const change = reinstateAccount(found.user, commandContext.now, terms)
      if (isRefusal(change)) return change
      const notrestored = change.notRestored.map(({ name, code, text, dependantid }) => ({
        ...{ name, code, message: text[request.locale] },
        ...(dependantid !== undefined && { dependantid }),
      }))
      return {
        change,
        answer: after => ({
          ...withDetails(viewUser(after, terms, request.locale), commandContext.member?.person('profile')),
          notrestored,
        }),
      }
    })
  }

  const erase: Handler<typeof eraseUser, Caller> = async request => {
    const { userid } = request.body
    const erased = await commands.run<ErasedUser>(
      request,
      { userid, why: 'erase', mode: 'erase' },
      commandContext => {
        const user = commandContext.member?.user
        if (user?.status === 'erased') return { answer: viewErased }
        if (!isKnown(user)) return refuse('user_not_found')
        const change = eraseAccount(user, commandContext.now, commandContext.terms())
        return { change, answer: viewErased }
      },
    )
    // A repeated erasure is listed, too, because listing the first one may have failed.
    const { partnerId } = request.caller.partner
    await noteErasure({ partnerId, serviceId: erased.serviceid, erasedAt: erased.erasedat })
    return erased
  }

  return {
    createUser: create,
    getUser: get,
    updateUser: update,
    cancelUser: cancel,
    reinstateUser: reinstate,
    eraseUser: erase,
  }
}

/** The dependants of a create, each with an id of its own and the benefits that are to cover it. */
function familyOf(given: NonNullable<CreateUser['dependants']>, newId: () => string): NamedFamily[] {
  return given.map(({ benefits = [], ...one }) => ({
    dependant: dependantOf(newId(), one),
    benefits: benefits.map(({ name }) => name),
  }))
}

function refuseMissing(fields: readonly string[], rule: string): Refusal {
  return refuse(
    'bad_request',
    fields.map(field => because(field, 'required', `${field} ${rule}`)),
  )
}

function livesElsewhere(before: Person, after: Person): boolean {
  return JSON.stringify(residenceOf(before)) !== JSON.stringify(residenceOf(after))
}
