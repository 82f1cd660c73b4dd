import type { Operation } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { OperationRequest } from '../../http/operation-request.ts'
import { traceparentOf } from '../../http/trace-context.ts'
import { idempotencyKeyOf, type KeyReservation, reservationOf } from '../../idempotency/key-reservation.ts'
import type { Caller } from '../../partners/authenticate.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CommandContext, Decided } from '../command.ts'
import type { CommandExecutor } from '../commands/executor.ts'
import type { Reader, Reading } from '../reading/reader.ts'
import { activeAccountOf } from '../rules/account.ts'
import type { Why } from '../rules/history.ts'
import type { Changed } from '../rules/intents.ts'
import type { Person } from '../rules/person.ts'
import { isRefusal, type Refusal } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'
import { accepted, replyOf } from './answer.ts'

type AnyRequest = Pick<
  OperationRequest<Operation, Caller>,
  'operation' | 'caller' | 'headers' | 'locale' | 'target' | 'requestId' | 'setHeader' | 'sent'
>

/**
 * The operations on accounts run through these functions: each is one write on one user, idempotent when a key is sent.
 */
export type AccountCommands = {
  /** Runs a keyed write, whatever the user's state. */
  run<Reply>(
    request: AnyRequest,
    command: { userid: string; why: Why; mode?: KeyReservation['mode']; startsAnew?: boolean },
    decide: (commandContext: CommandContext) => Decided<Reply> | Refusal,
  ): Promise<Reply>
  /**
   * Changes an active account. A user without an account gets 404, one with a cancel in effect 409 `user_cancelled`.
   */
  change<Reply>(
    request: AnyRequest,
    command: { userid: string; why: Why },
    decide: (user: User, now: Instant, terms: Terms) => Decided<Reply> | Refusal,
  ): Promise<Reply>
  /** Reads an active account with its rules and its person's data, for previews. */
  read(request: AnyRequest, userid: string): Promise<Reading>
}

/**
 * The decision that a rule's change makes, with its answer; a change that leaves the user as it was writes nothing. Refuses
 * what the rule refused.
 */
export function decisionOf<Made extends Changed, Reply>(
  made: Made | Refusal,
  user: User,
  answer: (after: User, made: Made) => Reply,
): Decided<Reply> | Refusal {
  if (isRefusal(made)) return made
  return { ...(made.user === user ? {} : { change: made }), answer: after => answer(after, made) }
}

/** Opens these functions. */
export function openAccountCommands(context: {
  executor: CommandExecutor
  reader: Reader
  terms: (partner: Partner, person: () => Person | undefined) => Terms
}): AccountCommands {
  const run: AccountCommands['run'] = async (request, command, decide) => {
    const { partner } = request.caller
    const key = idempotencyKeyOf(request.headers)
    const reservation =
      key === undefined ? undefined : reservationOf(key, request, { partner, mode: command.mode ?? 'keyed' })
    const result = await context.executor.submit({
      partner,
      userid: command.userid,
      who: 'partner',
      why: command.why,
      actor: request.caller.credentialId,
      requestId: request.requestId,
      traceparent: traceparentOf(request.headers),
      reservation,
      startsAnew: command.startsAnew ?? false,
      decide,
    })
    return replyOf(result, request)
  }
  return {
    run,
    change: (request, command, decide) =>
      run(request, command, commandContext => {
        const found = activeAccountOf(commandContext.member)
        return isRefusal(found) ? found : decide(found.user, commandContext.now, commandContext.terms())
      }),
    async read(request, userid) {
      const { partner } = request.caller
      const reading = accepted(activeAccountOf(await context.reader.read(partner, userid)), request)
      const people = await context.reader.documents(partner, reading.user)
      return { ...reading, terms: context.terms(partner, () => people.get('profile')) }
    },
  }
}
