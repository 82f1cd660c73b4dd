import type { ConsoleParts } from '../console/console-context.ts'
import { type ConsoleOptions, type RunningConsole, startConsole } from '../console/listener/start.ts'
import type { Shared, SharedOptions } from './shared.ts'
import type { Users } from './users.ts'

/** What the console shows and changes, and what only the process that serves partners can tell or do. */
export type ConsoleNeeds = {
  readonly shared: Shared<SharedOptions>
  readonly users: Users
} & Pick<
  ConsoleParts,
  'publicUrl' | 'serving' | 'isApart' | 'mayNotWrite' | 'noteErasure' | 'onWebhookChange'
>

/** Puts together what the console needs; `consoleUrl` is where operators reach it, if another name than its own. */
export function consoleParts(needs: ConsoleNeeds, consoleUrl: string | undefined): ConsoleParts {
  const { shared, users, ...others } = needs
  const { options, directory, clock, trail, mode } = shared
  const { database, keyring, real, log } = options
  return {
    ...others,
    database,
    directory,
    executor: users.executor,
    reader: users.reader,
    clock,
    terms: users.terms,
    log,
    trail,
    keyring,
    mode,
    real,
    consoleUrl,
  }
}

/** Starts the operators' console in this process, on a listener of its own. Rejects when its address is taken. */
export function openConsole(needs: ConsoleNeeds, at: ConsoleOptions): Promise<RunningConsole> {
  return startConsole(consoleParts(needs, at.url), at)
}
