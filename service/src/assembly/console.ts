import { type ConsoleOptions, type RunningConsole, startConsole } from '../console/listener/listener.ts'
import type { Delivery } from './delivery.ts'
import { listErasure } from './operations.ts'
import type { Shared } from './shared.ts'
import type { Users } from './users.ts'

/** What the console shows and changes. */
export type ConsoleParts = {
  readonly shared: Shared
  readonly users: Users
  readonly delivery: Delivery
  /** Where partners and people reach the service. */
  readonly publicUrl: () => string
  readonly metrics: () => Promise<string>
  readonly mayNotWrite: () => boolean
}

/** Starts the listener of the operators' console. Rejects when its address is taken. */
export function openConsole(parts: ConsoleParts, at: ConsoleOptions): Promise<RunningConsole> {
  const { shared, users, delivery, publicUrl, metrics, mayNotWrite } = parts
  const { options, directory, clock, trail, mode } = shared
  const { database, keyring, real, log } = options
  const context = {
    database,
    directory,
    executor: users.executor,
    reader: users.reader,
    clock,
    terms: users.terms,
    log,
    metrics,
    trail,
    keyring,
    mode,
    real,
    publicUrl,
    consoleUrl: at.url,
    onWebhookChange: delivery.dispatcher.refresh,
    mayNotWrite,
    noteErasure: (erasure: Parameters<typeof listErasure>[1]) => listErasure(options, erasure),
  }
  return startConsole(context, { ...at, trustProxy: options.trustProxy })
}
