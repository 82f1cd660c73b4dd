import { openPublished } from '../catalogue/published.ts'
import type { ExecutorContext } from '../membership/command.ts'
import {
  type CommandExecutor,
  guardWrites,
  openCommandExecutor,
  openDryExecutor,
} from '../membership/commands/executor.ts'
import { openTerms } from '../membership/reading/open-terms.ts'
import { openReader, type Reader } from '../membership/reading/reader.ts'
import { openUserMemory, type UserMemory } from '../membership/reading/user-memory.ts'
import { openUserWalk, type UserWalk } from '../membership/reading/walk.ts'
import { type NoteRefused, openRefusedCreates } from '../membership/records/refused-creates.ts'
import { type AccountCommands, openAccountCommands } from '../membership/requests/account-command.ts'
import type { Dispatcher } from '../webhooks/delivery/dispatcher.ts'
import type { Shared, SharedOptions } from './shared.ts'

/** How users are read and changed. */
export type Users = {
  readonly terms: ExecutorContext['terms']
  readonly prepareTerms: ExecutorContext['prepareTerms']
  readonly memory: UserMemory
  readonly reader: Reader
  readonly walk: UserWalk
  /** Carries out the commands of requests. */
  readonly executor: CommandExecutor
  /** Carries out what falls due, in short batches, so that it never delays a request. */
  readonly dueExecutor: CommandExecutor
  readonly commands: AccountCommands
  /** Decides commands and writes nothing. */
  readonly dryExecutor: CommandExecutor
  /** Stores which creates were refused, and why. */
  readonly noteRefused: NoteRefused
}

/** Opens what reads and changes users. What it commits wakes the delivery of webhooks. */
export function openUsers(
  { options, clock, statistics }: Shared<SharedOptions>,
  { dispatcher }: { dispatcher: Pick<Dispatcher, 'nudge'> },
  mayNotWrite: () => boolean,
): Users {
  const { database, real } = options
  const { terms, prepareTerms, consentHash } = openTerms({
    published: openPublished({ database, real }),
    real,
  })
  const memory = openUserMemory(real)
  const context: ExecutorContext = {
    database,
    clock,
    sandbox: options.installation.sandbox,
    terms,
    prepareTerms,
    consentHash,
    onWritten: users => {
      for (const { user, version } of users) memory.keepWritten(user, version)
      statistics.noteUsers(users.length)
    },
    onEvents: partnerIds => {
      dispatcher.nudge(partnerIds)
      options.tellOthers?.({ events: [...partnerIds] })
    },
  }
  const executor = guardWrites(openCommandExecutor(context), mayNotWrite)
  const dryExecutor = openDryExecutor(context)
  const reader = openReader({ ...context, memory })
  return {
    terms,
    prepareTerms,
    memory,
    reader,
    walk: openUserWalk(context),
    executor,
    dueExecutor: guardWrites(openCommandExecutor(context, COMMANDS_OF_A_DUE_BATCH), mayNotWrite),
    commands: openAccountCommands({ executor, dryExecutor, reader, terms }),
    dryExecutor,
    noteRefused: openRefusedCreates(database),
  }
}

const COMMANDS_OF_A_DUE_BATCH = 64
