import type {
  Cancelled,
  CreateUser,
  cancelUser,
  createUser,
  ErasedUser,
  eraseUser,
  getUser,
  reinstateUser,
  updateUser,
} from '@benefit-enrolment/contract'
import { effectiveInstant, formatTimestamp, type Instant, reinstatableUntil } from '../calendar/calendar.ts'
import type { Offer } from '../catalogue/model.ts'
import type { Handler } from '../http/mount.ts'
import { badField, badFields, ServiceError } from '../http/service-error.ts'
import { type AccountCommands, activeAccount } from '../membership/account-command.ts'
import { erasedAnswer } from '../membership/claims.ts'
import type { Situation } from '../membership/command.ts'
import { consentsOf } from '../membership/consents.ts'
import { type Person, residenceOf } from '../membership/documents.ts'
import { raise } from '../membership/events.ts'
import {
  checkBirthDate,
  mergePerson,
  missingForAccount,
  personOf,
  updatedPerson,
} from '../membership/person.ts'
import type { Reader } from '../membership/reader.ts'
import { isRefusal, refuse } from '../membership/refusal.ts'
import { plan } from '../membership/settle.ts'
import { isActive, isInForce, isKnown, type User } from '../membership/state.ts'
import { openBenefit, partnerOffer, partnerOffers, type Terms } from '../membership/terms.ts'
import { viewTimeline, viewUser } from '../membership/view.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { cancelAccount, createAccount, eraseAccount, rejudge } from './lifecycle.ts'
import { reinstateAccount } from './reinstate.ts'

/** Creates, fetches, updates, cancels, reinstates and erases users (contract §7). */
export const accountHandlers = (context: { commands: AccountCommands; reader: Reader; clock: Clock }) => {
  const { commands, reader, clock } = context

  const create: Handler<typeof createUser, Caller> = async request => {
    const { partner } = request.caller
    const { body } = request
    checkBirthDate(body.dob, clock.now(partner), partner.timezone)
    return commands.run(request, { userid: body.userid, why: 'create' }, situation => {
      const stored = situation.member?.user
      const wish = readCreate(body, partner, situation)
      if (stored?.status === 'active') return refuse('user_exists')
      const entry = stored?.entryExpiresAt === undefined ? undefined : situation.member?.person('prefill')
      const person = mergePerson(entry, personOf(body))
      const missing = missingForAccount(person)
      if (missing.length > 0) {
        throw badFields(missing.map(field => ({ field, code: 'required', message: `${field} is required` })))
      }
      const terms = situation.terms(person)
      const consents = consentsOf(body.consents ?? [], { terms, now: situation.now, locale: request.locale })
      const start = { offer: wish.offer, picks: body.benefits ?? [], consents, startsAt: wish.startsAt }
      const created = createAccount(situation.orNew(), start, situation.now, terms)
      if (isRefusal(created)) return created
      return {
        change: { ...created, documents: { profile: person, prefill: null, draft: null } },
        answer: after => viewUser(after, terms, request.locale),
      }
    })
  }

  const get: Handler<typeof getUser, Caller> = async request => {
    const { partner } = request.caller
    const reading = await reader.read(partner, request.body.userid)
    if (reading?.user.status === 'erased') return viewErased(reading.user)
    if (!reading || !isKnown(reading.user)) throw new ServiceError('user_not_found')
    const view = viewUser(reading.user, reading.terms, request.locale)
    if (!request.body.include?.includes('timeline')) return view
    return { ...view, timeline: viewTimeline(reading.user, await reader.history(reading)) }
  }

  const update: Handler<typeof updateUser, Caller> = async request => {
    const { partner } = request.caller
    const { userid, ...fields } = request.body
    checkBirthDate(fields.dob, clock.now(partner), partner.timezone)
    return commands.run(request, { userid, why: 'update' }, situation => {
      const user = activeAccount(situation)
      if ('refused' in user) return user
      const stored = situation.member?.person('profile') ?? {}
      const person = updatedPerson(stored, fields)
      const missing = missingForAccount(person)
      if (missing.length > 0) {
        throw badFields(
          missing.map(field => ({ field, code: 'required', message: `${field} must not be cleared` })),
        )
      }
      const terms = situation.terms(person)
      const changed: User = { ...user, updatedAt: situation.now }
      const judged = livesElsewhere(stored, person) ? rejudge(changed, situation.now, terms) : changed
      return {
        change: {
          user: judged,
          events: [raise(judged, 'user_update_successful', situation.now)],
          documents: { profile: person },
        },
        answer: after => viewUser(after, terms, request.locale),
      }
    })
  }

  const cancel: Handler<typeof cancelUser, Caller> = async request => {
    const { userid } = request.params
    const effective = request.query.effective || 'endofperiod'
    const reason = request.query.reason || 'voluntary'
    if (request.query.previewonly === 'true') return previewCancel(request, { userid, effective, reason })
    return commands.run(request, { userid, why: `cancel: ${reason}` }, situation => {
      const user = situation.member?.user
      if (!isKnown(user) || (user.status !== 'active' && user.status !== 'cancelled'))
        return refuse('user_not_found')
      const terms = situation.terms()
      const change = cancelAccount(user, { effective, reason }, situation.now, terms)
      return {
        ...(change.user === user ? {} : { change }),
        answer: after => viewCancelled(after, terms),
      }
    })
  }

  /** What a cancel would answer, by the functions that it goes through; a key has no effect. */
  const previewCancel = async (
    request: Parameters<typeof cancel>[0],
    wish: Parameters<typeof cancelAccount>[1] & { userid: string },
  ) => {
    const found = await reader.read(request.caller.partner, wish.userid)
    const reading =
      found?.user.status === 'cancelled' ? found : await commands.look(request as never, wish.userid)
    const { user, terms, now } = reading
    const { user: cancelled } = cancelAccount(user, wish, now, terms)
    const after = isActive(cancelled) ? plan(cancelled, terms, { user, at: now }) : cancelled
    return viewCancelled(after, terms)
  }

  const reinstate: Handler<typeof reinstateUser, Caller> = async request => {
    const { userid } = request.body
    return commands.run(request, { userid, why: 'reinstate' }, situation => {
      const user = situation.member?.user
      if (!isKnown(user) || (user.status !== 'active' && user.status !== 'cancelled'))
        return refuse('user_not_found')
      const terms = situation.terms()
      const change = reinstateAccount(user, situation.now, terms)
      if (isRefusal(change)) return change
      const notrestored = change.notRestored.map(({ name, code, text }) => ({
        name,
        code,
        message: text[request.locale],
      }))
      return {
        change,
        answer: after => ({ ...viewUser(after, terms, request.locale), notrestored }),
      }
    })
  }

  const erase: Handler<typeof eraseUser, Caller> = async request => {
    const { userid } = request.body
    return commands.run<ErasedUser>(request, { userid, why: 'erase', mode: 'erase' }, situation => {
      const user = situation.member?.user
      if (user?.status === 'erased') return { answer: viewErased }
      if (!isKnown(user)) return refuse('user_not_found')
      const change = eraseAccount(user, situation.now, situation.terms())
      return { change, answer: viewErased }
    })
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

/** The offer and the start that a request asks for; refuses what it does not name well. */
const readCreate = (
  body: CreateUser,
  partner: Partner,
  situation: Situation,
): { offer: Offer; startsAt: Instant } => {
  const terms = situation.terms()
  const offer = readOffer(body.offername, terms)
  const unknown = (body.benefits ?? []).findIndex(name => openBenefit(terms, name) === undefined)
  if (unknown >= 0) throw badField(`benefits[${unknown}]`, 'unknown', 'must be a benefit of the catalogue')
  const effective = effectiveInstant(body.effectivedate || undefined, situation.now, partner.timezone)
  if (!effective.ok) {
    throw badField('effectivedate', effective.reason, 'must be a date from today to 90 days ahead')
  }
  return { offer, startsAt: effective.at }
}

const readOffer = (name: string | undefined, terms: Terms): Offer => {
  const offer = name ? partnerOffer(terms, name) : undefined
  if (offer) return offer
  if (name) throw new ServiceError('offername_unknown')
  const [only, ...more] = partnerOffers(terms)
  if (!only || more.length > 0) throw new ServiceError('offername_required')
  return only
}

const livesElsewhere = (before: Person, after: Person): boolean =>
  JSON.stringify(residenceOf(before)) !== JSON.stringify(residenceOf(after))

const viewErased = (user: User): ErasedUser =>
  erasedAnswer(user.userid, user.serviceId, user.erasedAt ?? user.updatedAt)

const viewCancelled = (user: User, terms: Terms): Cancelled => {
  const at = user.cancel?.at ?? user.updatedAt
  return {
    userid: user.userid,
    serviceid: user.serviceId,
    status: user.status === 'cancelled' ? 'cancelled' : 'active',
    effectiveattimestamp: formatTimestamp(at),
    benefits: user.enrolments
      .filter(
        enrolment =>
          (isInForce(enrolment) && user.cancel !== undefined) ||
          (enrolment.state === 'ended' && enrolment.endsAt === at && enrolment.closeReason === 'cancelled'),
      )
      .map(enrolment => ({
        name: enrolment.benefit,
        endsattimestamp: formatTimestamp(enrolment.endsAt ?? at),
      })),
    reinstatableuntil: formatTimestamp(reinstatableUntil(at, terms.zone)),
  }
}
