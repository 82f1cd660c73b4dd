import type { Locale, Operation } from '@benefit-enrolment/contract'
import type { Instant } from '../../calendar/calendar.ts'
import type { OperationRequest } from '../../http/mount.ts'
import { ServiceError } from '../../http/service-error.ts'
import { traceparentOf } from '../../http/trace-context.ts'
import { idempotencyKeyOf, type KeyReservation, reservationOf } from '../../idempotency/key-reservation.ts'
import type { Caller } from '../../partners/authenticate.ts'
import type { Partner } from '../../partners/partner.ts'
import type { CommandContext, CommandResult, Decided } from '../command.ts'
import type { CommandExecutor } from '../commands/executor.ts'
import type { Reader, Reading } from '../reading/reader.ts'
import { activeAccountOf } from '../rules/account.ts'
import type { Why } from '../rules/history.ts'
import type { Changed } from '../rules/intents.ts'
import type { Person } from '../rules/person.ts'
import { isRefusal, type Refusal, type RefusalReason } from '../rules/refusal.ts'
import type { User } from '../rules/state.ts'
import type { Terms } from '../rules/terms.ts'

type AnyRequest = Pick<
  OperationRequest<Operation, Caller>,
  'operation' | 'caller' | 'headers' | 'locale' | 'target' | 'requestId' | 'setHeader' | 'sent'
>

/** A write on one user. */
type AccountCommand = {
  readonly userid: string
  readonly why: Why
  /** What its key means; `ignored`: nothing. */
  readonly mode?: KeyReservation['mode'] | 'ignored'
  readonly startsAnew?: boolean
  /** It is decided and answered, and nothing is written: its key means nothing then. */
  readonly isPreview?: boolean
}

/**
 * The operations on accounts run through these functions: each is one write on one user, idempotent when a key is sent.
 */
export type AccountCommands = {
  /** Runs a keyed write, whatever the user's state. */
  run<Reply>(
    request: AnyRequest,
    command: AccountCommand,
    decide: (commandContext: CommandContext) => Decided<Reply> | Refusal,
  ): Promise<Reply>
  /**
   * Changes an active account. A user without an account gets 404, one with a cancel in effect 409 `user_cancelled`.
   */
  change<Reply>(
    request: AnyRequest,
    command: AccountCommand,
    decide: (user: User, now: Instant, terms: Terms) => Decided<Reply> | Refusal,
  ): Promise<Reply>
  /** Reads an active account with its rules and its person's data. */
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
  /** Decides as the executor does and writes nothing. */
  dryExecutor: CommandExecutor
  reader: Reader
  terms: (partner: Partner, person: () => Person | undefined) => Terms
}): AccountCommands {
  const run: AccountCommands['run'] = async (request, command, decide) => {
    const { partner } = request.caller
    const { isPreview = false } = command
    const mode = isPreview ? 'ignored' : (command.mode ?? 'keyed')
    const key = mode === 'ignored' ? undefined : idempotencyKeyOf(request.headers)
    const reservation =
      key === undefined || mode === 'ignored' ? undefined : reservationOf(key, request, { partner, mode })
    const executor = isPreview ? context.dryExecutor : context.executor
    const result = await executor.submit({
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

/** The problem for a refusal, with its reasons in the caller's language. */
export function problemOfRefusal(
  refusal: Refusal,
  locale: Locale,
  headers: Readonly<Record<string, string>> = {},
): ServiceError {
  return new ServiceError(refusal.refused, undefined, {
    headers,
    errors: reasonsIn(refusal.reasons, locale),
  })
}

/** Reasons of a refusal in the caller's language. */
export function reasonsIn(reasons: readonly RefusalReason[], locale: Locale) {
  return reasons.map(({ field, code, text, dependantid }) => ({
    ...{ field, code, message: text[locale] },
    ...(dependantid !== undefined && { dependantid }),
  }))
}

/** What a rule decided; throws the problem of a refusal. */
export function accepted<T>(
  decided: T | Refusal,
  { locale }: { readonly locale: Locale },
): Exclude<T, Refusal> {
  if (typeof decided === 'object' && decided !== null && isRefusal(decided))
    throw problemOfRefusal(decided, locale)
  return decided as Exclude<T, Refusal>
}

/** Tells a client whose first answer was lost that its request succeeded. */
const succeeded = { 'Idempotency-Replayed': 'true', 'Idempotency-Original-Status': '200' }

/** The reply of a command, marked as a replay if it is one; throws the problem of a refusal. */
export function replyOf<Reply>(
  result: CommandResult<Reply>,
  request: { readonly locale: Locale; readonly setHeader: (name: string, value: string) => void },
): Reply {
  if (isRefusal(result)) throw problemOfRefusal(result, request.locale, result.replayed ? succeeded : {})
  const { reply, replayed } = result
  if (replayed) request.setHeader('Idempotency-Replayed', 'true')
  return reply
}
