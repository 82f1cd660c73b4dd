/**
 * What the service and the console's process say to each other. They speak over the channel that Node opens between a
 * process and its child: no other process can read it, and it ends when either of them ends.
 */
import type { ConsoleOptions } from '../console/listener/start.ts'
import type { DatabaseAddress } from '../db/database.ts'
import type { Installation } from '../installation.ts'
import type { LogLevel } from '../log.ts'
import type { Serving } from './console-service.ts'

/** What a console in a process of its own is started with. */
export type ConsoleSettings = {
  /** Where the service accepts its connections, and how operators sign in. */
  readonly at: ConsoleOptions
  /** Where partners and people reach the service. */
  readonly publicUrl: string
  readonly address: DatabaseAddress
  /** Where the keys come from, as for the service. */
  readonly keys: { readonly dataDir: string; readonly rootKey?: string | undefined }
  readonly installation: Installation
  readonly logLevel: LogLevel
  readonly mayNotWrite: boolean
}

/** What the console's process says of itself. */
export type ConsoleReport = { readonly memoryBytes: number; readonly cpuSeconds: number }

/** An answer to the question of the same id; `failed` when there is no value because something went wrong. */
type Answer = {
  readonly kind: 'answer'
  readonly id: number
  readonly value?: unknown
  readonly failed?: boolean
}

/** What the service tells the console's process. */
export type ToConsole =
  | { readonly kind: 'start'; readonly settings: ConsoleSettings }
  /** Travels with the connection of a browser. */
  | { readonly kind: 'connection' }
  /** From now on writes are refused, or not. */
  | { readonly kind: 'writes'; readonly refused: boolean }
  /** Asks for a `ConsoleReport`. */
  | { readonly kind: 'report'; readonly id: number }
  /** Answers what was accepted, then ends. */
  | { readonly kind: 'stop' }
  | Answer

/** What the console's process tells the service. */
export type ToService =
  /** Takes connections. */
  | { readonly kind: 'ready' }
  | { readonly kind: 'log'; readonly event: string; readonly fields: Readonly<Record<string, unknown>> }
  /** Sent last, after everything else, once it was told to stop. */
  | { readonly kind: 'closed' }
  /** Asks for the result of a function of `Serving`. */
  | { readonly kind: 'call'; readonly id: number; readonly name: keyof Serving; readonly args: unknown[] }
  | Answer

/** The other process could not do what it was asked. */
class NotAnswered extends Error {
  override name = 'NotAnswered'
}

/** The questions to the other process that it has not answered yet. */
export type Questions = {
  /** Sends a question under a new id. Rejects with `NotAnswered` when the other process says that it failed, or ends. */
  ask<Value>(send: (id: number) => void): Promise<Value>
  answered(answer: Answer): void
  /** Rejects all that wait: no answer comes any more. */
  end(): void
}

/** Opens the questions of one channel. */
export function openQuestions(): Questions {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let lastId = 0
  return {
    ask: send =>
      new Promise((resolve, reject) => {
        lastId += 1
        waiting.set(lastId, { resolve, reject })
        send(lastId)
      }),
    answered({ id, value, failed = false }) {
      const one = waiting.get(id)
      waiting.delete(id)
      if (failed) one?.reject(new NotAnswered('the other process failed'))
      else one?.resolve(value as never)
    },
    end() {
      for (const one of waiting.values()) one.reject(new NotAnswered('the other process has ended'))
      waiting.clear()
    },
  }
}
