import type { Operation } from '@benefit-enrolment/contract'
import type { Instant } from '../calendar/calendar.ts'
import type { OperationRequest } from '../http/operation-request.ts'
import { ServiceError } from '../http/service-error.ts'
import { type Claim, claimOf, idempotencyKeyOf } from '../idempotency/claim-of.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Partner } from '../partners/partner.ts'
import { replyOf } from './answer.ts'
import type { Decided, Situation } from './command.ts'
import type { Person } from './documents.ts'
import type { Ledger } from './ledger.ts'
import type { Reader, Reading } from './reader.ts'
import { type Refusal, refuse } from './refusal.ts'
import { isActive, isKnown, type User } from './state.ts'
import type { Terms } from './terms.ts'

type AnyRequest = Pick<
  OperationRequest<Operation, Caller>,
  'operation' | 'caller' | 'headers' | 'locale' | 'target' | 'setHeader'
> & { readonly body: unknown }

/** The operations on accounts go this way: one write on one user, idempotent when a key is sent. */
export type AccountCommands = {
  /** Runs a keyed write, whatever the user's state. */
  run<Reply>(
    request: AnyRequest,
    command: { userid: string; why: string; mode?: Claim['mode'] },
    decide: (situation: Situation) => Decided<Reply> | Refusal,
  ): Promise<Reply>
  /** Changes an active account; a user without one is 404, one with a cancel in effect 409 `user_cancelled`. */
  change<Reply>(
    request: AnyRequest,
    command: { userid: string; why: string },
    decide: (user: User, now: Instant, terms: Terms) => Decided<Reply> | Refusal,
  ): Promise<Reply>
  /** Reads an active account with its rules and its owner's data, for previews. */
  look(request: AnyRequest, userid: string): Promise<Reading>
}

/** The account of a situation, or why there is none to change. */
export const activeAccount = (situation: Situation): User | Refusal => {
  const user = situation.member?.user
  if (!isKnown(user) || (user.status !== 'active' && user.status !== 'cancelled'))
    return refuse('user_not_found')
  return isActive(user) ? user : refuse('user_cancelled')
}

/** Opens the way that operations on accounts go. */
export const openAccountCommands = (context: {
  ledger: Ledger
  reader: Reader
  terms: (partner: Partner, person: () => Person | undefined) => Terms
}): AccountCommands => {
  const run: AccountCommands['run'] = async (request, command, decide) => {
    const { partner } = request.caller
    const key = idempotencyKeyOf(request.headers)
    const claim =
      key === undefined ? undefined : claimOf(key, request, { partner, mode: command.mode ?? 'keyed' })
    const outcome = await context.ledger.submit({
      partner,
      userid: command.userid,
      who: 'partner',
      why: command.why,
      claim,
      decide,
    })
    return replyOf(outcome, request)
  }
  return {
    run,
    change: (request, command, decide) =>
      run(request, command, situation => {
        const user = activeAccount(situation)
        return 'refused' in user ? user : decide(user, situation.now, situation.terms())
      }),
    async look(request, userid) {
      const { partner } = request.caller
      const reading = await context.reader.read(partner, userid)
      const { user } = reading ?? {}
      if (!reading || !isKnown(user) || (user.status !== 'active' && user.status !== 'cancelled')) {
        throw new ServiceError('user_not_found')
      }
      if (!isActive(user)) throw new ServiceError('user_cancelled')
      const people = await context.reader.documents(partner, user)
      return { ...reading, terms: context.terms(partner, () => people.get('profile')) }
    },
  }
}
