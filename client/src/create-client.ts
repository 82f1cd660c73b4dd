import { type Connection, makeCall, type ResponseInfo } from './call.ts'
import type { CallOptions, Client } from './client.ts'
import { type OperationName, routes, type Scope } from './routes.ts'
import { createTokenSource } from './token.ts'

/** How to reach the service, and as whom. */
export type ClientOptions = {
  /** The service's address, a stage path included, for example `https://benefits.example.com/v1`. */
  baseUrl: string
  clientId: string
  clientSecret: string
  /** Names your application; needed unless the operator made it optional for you (contract §3). */
  apiKey?: string
  /** The scopes to ask for; left out: all that you were given. */
  scopes?: readonly Scope[]
  /** How many times a request is sent at most when it may be repeated; default 3. */
  tries?: number
  /** How long one try may take, in milliseconds; default 10,000. */
  timeoutMs?: number
  /** How long a call may take with all its tries and waits, in milliseconds; default 30,000. */
  deadlineMs?: number
  /** Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch
  /** Told of every answer to a call, for logs, metrics and rate limits; what it throws is ignored. */
  onResponse?: (info: ResponseInfo) => void
}

/**
 * Makes a client: typed calls, with the token fetched on first need and renewed in time, and with safe retries.
 * It opens nothing until the first call, and there is nothing to close. Throws a TypeError for options that cannot
 * work; it names the option and never its value.
 */
export const createClient = (options: ClientOptions): Client => {
  const {
    clientId,
    clientSecret,
    apiKey,
    scopes,
    tries = 3,
    timeoutMs = 10_000,
    deadlineMs = 30_000,
  } = options
  // Some runtimes refuse a fetch that is called as the method of another object.
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
    tokens: createTokenSource({
      ...{ baseUrl, clientId, clientSecret, fetch, timeoutMs },
      ...(scopes === undefined ? {} : { scopes }),
    }),
    timeoutMs,
    deadlineMs,
    tries,
    onResponse: options.onResponse,
  }
  const methods = (Object.keys(routes) as OperationName[]).map(operation => [
    operation,
    (input: object, callOptions: CallOptions = {}) =>
      makeCall(connection, { operation, input, options: callOptions }),
  ])
  // That each method takes and answers what its type says is held by drift.ts, not by inference.
  return Object.fromEntries(methods) as Client
}

const readBaseUrl = (text: string): string => {
  const refusal = new TypeError('baseUrl must be an http(s) address without user info, query and fragment')
  if (!URL.canParse(text)) throw refusal
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) throw refusal
  return url.href.replace(/\/+$/, '')
}

const longestTimerMs = 2 ** 31 - 1

const checkMilliseconds = (name: string, ms: number): void => {
  if (!(ms > 0 && ms <= longestTimerMs)) {
    throw new TypeError(`${name} must be more than 0 and at most ${longestTimerMs} milliseconds`)
  }
}
