import { type Bulk, bulkOf } from './bulk.ts'
import { type Connection, type LogEntry, makeCall, type ResponseInfo } from './call.ts'
import { type EachEvent, eachEventOf } from './each-event.ts'
import { type EachStatementLine, eachStatementLineOf } from './each-statement-line.ts'
import { type EachUser, eachUserOf } from './each-user.ts'
import type { Client, Scope } from './generated.ts'
import { routes } from './generated-routes.ts'
import type { CallOptions } from './options.ts'
import type { OperationName } from './routes.ts'
import { createTokenSource } from './token.ts'

export type { OperationName } from './routes.ts'

/** The address of the service, and the caller's credentials. */
export type ClientOptions = {
  /** The service's address, including a stage path, for example `https://benefits.example.com/v1`. */
  baseUrl: string
  clientId: string
  clientSecret: string
  /** Your application's key; needed unless the operator made it optional for you (contract §3). */
  apiKey?: string
  /** The scopes to request; absent: all that you were given. */
  scopes?: readonly Scope[]
  /** How many times at most a repeatable request is sent; default 3. */
  tries?: number
  /** How long one attempt may take, in milliseconds; default 10,000. */
  timeoutMs?: number
  /** How long a call may take with all its attempts and pauses, in milliseconds; default 30,000. */
  deadlineMs?: number
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Called with every answer, for logs, metrics and rate limits; errors that it throws are ignored. */
  onResponse?: (info: ResponseInfo) => void
  /** Called for renewed tokens, retries and failures, for your log; errors that it throws are ignored. */
  onLog?: (entry: LogEntry) => void
}

/** The same operations, each resolving with status, headers and request id beside the body. */
export type ClientWithResponse = {
  [Id in keyof Client]: (
    ...taken: Parameters<Client[Id]>
  ) => Promise<{ value: Awaited<ReturnType<Client[Id]>>; response: ResponseInfo }>
}

/** A client with the functions that go beyond a single call. */
export type PartnerClient = Client & {
  /** The same operations, each with status, headers and request id of its answer. */
  readonly withResponse: ClientWithResponse
  /** Reads the event log page by page: `for await (const event of client.eachEvent())`. */
  readonly eachEvent: EachEvent
  /** Reads the list of users page by page: `for await (const user of client.eachUser())`. */
  readonly eachUser: EachUser
  /** Reads the lines of a month page by page: `for await (const line of client.eachStatementLine({ month }))`. */
  readonly eachStatementLine: EachStatementLine
  /** Sends many writes: `for await (const { line, status } of client.bulk(lines))`. */
  readonly bulk: Bulk
}

/**
 * Creates a client: typed calls, a token that is fetched when it is first needed and renewed in time, and safe retries.
 * It opens nothing until the first call, and there is nothing to close. Throws a TypeError for options that cannot
 * work; the message names the option and never its value.
 */
export function createClient(options: ClientOptions): PartnerClient {
  const {
    clientId,
    clientSecret,
    apiKey,
    scopes,
    tries = 3,
    timeoutMs = 10_000,
    deadlineMs = 30_000,
  } = options
  // Some runtimes refuse a fetch that is called as a method of another object.
  const fetch: typeof globalThis.fetch = options.fetch ?? ((...args) => globalThis.fetch(...args))
  const baseUrl = readBaseUrl(options.baseUrl)
  if (!clientId) throw new TypeError('clientId must be the client id that the operator gave you')
  if (!clientSecret) throw new TypeError('clientSecret must be the client secret that the operator gave you')
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new TypeError('apiKey must be visible ASCII characters; leave it out when you have none')
  }
  if (!Number.isInteger(tries) || tries < 1) throw new TypeError('tries must be a whole number from 1')
  checkMilliseconds('timeoutMs', timeoutMs)
  checkMilliseconds('deadlineMs', deadlineMs)

  const connection: Connection = {
    baseUrl,
    apiKey,
    fetch,
    tokens: createTokenSource({ baseUrl, clientId, clientSecret, scopes, fetch, timeoutMs }),
    timeoutMs,
    deadlineMs,
    tries,
    onResponse: options.onResponse,
    onLog: options.onLog,
  }
  const names = Object.keys(routes) as OperationName[]
  const call =
    (operation: OperationName) =>
    (input: object, callOptions: CallOptions = {}) =>
      makeCall(connection, { operation, input, options: callOptions })
  const bare = (operation: OperationName) => {
    const made = call(operation)
    return async (input: object, callOptions?: CallOptions) => (await made(input, callOptions)).value
  }
  // drift.ts checks that each method's input and answer have the declared types; inference cannot.
  const client = Object.fromEntries(names.map(name => [name, bare(name)])) as Client
  const withResponse = Object.fromEntries(names.map(name => [name, call(name)])) as ClientWithResponse
  // These members are not enumerable, so they do not count as operations.
  return Object.defineProperties(client, {
    withResponse: { value: withResponse },
    eachEvent: { value: eachEventOf(client) },
    eachUser: { value: eachUserOf(client) },
    eachStatementLine: { value: eachStatementLineOf(client) },
    bulk: { value: bulkOf(connection) },
  }) as PartnerClient
}

function readBaseUrl(text: string): string {
  const refusal = new TypeError('baseUrl must be an http(s) address without user info, query and fragment')
  if (!URL.canParse(text)) throw refusal
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) throw refusal
  return url.href.replace(/\/+$/, '')
}

const LONGEST_TIMER_MS = 2 ** 31 - 1

function checkMilliseconds(name: string, ms: number): void {
  if (!(ms > 0 && ms <= LONGEST_TIMER_MS)) {
    throw new TypeError(`${name} must be more than 0 and at most ${LONGEST_TIMER_MS} milliseconds`)
  }
}
