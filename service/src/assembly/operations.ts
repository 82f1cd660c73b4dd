import type { Operation, OperationIdOf, SandboxOperationId } from '@benefit-enrolment/contract'
import { beneficiaryHandlers } from '../accounts/beneficiary-handlers.ts'
import { dependantHandlers } from '../accounts/dependant-handlers.ts'
import { accountHandlers } from '../accounts/handlers.ts'
import { userListHandler } from '../accounts/list-handlers.ts'
import { benefitHandlers } from '../benefits/handlers.ts'
import type { LineHandlers } from '../bulk/answer-lines.ts'
import { Unavailable } from '../db/failure.ts'
import type { Handler, Handlers } from '../http/mount.ts'
import { inTurn, type LongTurn } from '../http/shedding/long-reads.ts'
import { describeCause } from '../log.ts'
import type { ListedErasure } from '../membership/erasure-list/list.ts'
import { openAccountCommands } from '../membership/requests/account-command.ts'
import { offerHandlers } from '../offers/handlers.ts'
import type { Caller } from '../partners/authenticate.ts'
import type { Partner } from '../partners/partner.ts'
import { prefillHandlers } from '../prefill/handlers.ts'
import { linkTokenHandlers } from '../registration/links/handlers.ts'
import { statementHandlers } from '../statements/handlers.ts'
import { eventHandlers } from '../webhooks/api/event-handlers.ts'
import { webhookHandlers } from '../webhooks/api/handlers.ts'
import type { Delivery } from './delivery.ts'
import type { ServiceOptions } from './options.ts'
import type { Shared } from './shared.ts'
import type { Users } from './users.ts'

/** What a partner may call on every service; a bulk and the operations of a sandbox are mounted beside them. */
type PartnerOperationId = Exclude<OperationIdOf<'partner'>, SandboxOperationId | 'bulk'>

/** The handlers of all operations that a partner may call; a missing one does not compile. */
export function partnerHandlers(
  { options, clock, mode, trail }: Shared,
  { executor, reader, walk, terms, prepareTerms, memory, commands, noteRefused }: Users,
  {
    dispatcher,
    catchUp,
    baseUrl,
    turn,
  }: {
    dispatcher: Delivery['dispatcher']
    /** Applies what is due for a partner. */
    catchUp: (partner: Partner) => Promise<void>
    baseUrl: () => string
    turn: LongTurn
  },
): Handlers<Caller, PartnerOperationId> {
  const { database, keyring, real } = options
  const inOneStep =
    <T extends Operation>(handler: Handler<T, Caller>): Handler<T, Caller> =>
    request =>
      inTurn(turn, request.caller.partner.partnerId, async () => handler(request))
  const webhooks = { database, rules: options.webhookRules, real, onChange: dispatcher.refresh }
  const ofWebhooks = webhookHandlers(webhooks)
  const ofEvents = eventHandlers({ ...webhooks, catchUp, trail })
  return {
    ...prefillHandlers({ commands, clock }),
    ...benefitHandlers({ reader, commands, memory, baseUrl }),
    ...accountHandlers({
      commands,
      reader,
      clock,
      noteErasure: erasure => listErasure(options, erasure),
      noteRefused,
      trail,
    }),
    ...statementHandlers({
      database,
      clock,
      sandbox: options.installation.sandbox,
      terms,
      prepareTerms,
      trail,
      turn,
    }),
    listUsers: userListHandler({ walk, turn, trail }),
    ...beneficiaryHandlers({ reader, database, trail }),
    ...dependantHandlers({ reader, commands, trail }),
    ...offerHandlers({ commands, clock }),
    ...linkTokenHandlers({ database, reader, executor, keyring, mode, real, baseUrl }),
    ...ofWebhooks,
    ...ofEvents,
    replayWebhook: inOneStep(ofWebhooks.replayWebhook),
    listEvents: inOneStep(ofEvents.listEvents),
  }
}

/** The operations whose handlers take turns of their own (`http/shedding/long-reads.ts`). */
export const longOperations: ReadonlySet<OperationIdOf<'partner'>> = new Set([
  'listUsers',
  'listStatements',
  'listStatementLines',
  'listEvents',
  'replayWebhook',
])

/** The handlers that answer the lines of a bulk that is only tried: nothing is written, listed or noted. */
export function dryHandlers(
  { clock, trail }: Shared,
  { dryExecutor: executor, reader, terms }: Users,
): LineHandlers {
  const commands = openAccountCommands({ executor, dryExecutor: executor, reader, terms })
  return {
    ...prefillHandlers({ commands, clock }),
    ...accountHandlers({
      commands,
      reader,
      clock,
      noteErasure: async () => {},
      noteRefused: () => {},
      trail,
    }),
  }
}

/**
 * Adds an erasure, which is committed by then, to the list outside the database. Rejects with `Unavailable` where the list
 * cannot be written, so that the caller repeats the erasure, which lists it again.
 */
export async function listErasure(
  { erasures, log }: Pick<ServiceOptions, 'erasures' | 'log'>,
  erasure: ListedErasure,
): Promise<void> {
  try {
    await erasures?.note(erasure)
  } catch (cause) {
    log('erasure_not_listed', describeCause(cause))
    throw new Unavailable('not listed', { cause })
  }
}
