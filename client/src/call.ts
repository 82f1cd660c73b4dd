import { isReplayed, noAnswer, readAnswer } from './answer.ts'
import type { CallOptions } from './client.ts'
import { type BenefitEnrolmentError, isBenefitEnrolmentError } from './error.ts'
import { type PreparedRequest, prepareRequest } from './request.ts'
import { mayHaveWorked, mayPass, waitBeforeNextTry } from './retry.ts'
import type { OperationName } from './routes.ts'
import { pause, withTimeLimit } from './time-limit.ts'
import type { TokenSource } from './token.ts'

/** One answer of the service, told to `onResponse`. */
export type ResponseInfo = {
  operation: OperationName
  status: number
  /** Names the request in the operator's logs. */
  requestId: string | undefined
  /** Whether this is the answer to an earlier request with the same key again (contract §4). */
  replayed: boolean
  /** What else the answer told, for example `retry-after`, `ratelimit` or `content-language`. */
  headers: Headers
  /** 1 for the first request of a call. */
  attempt: number
  /** From sending the request to the end of the answer, in milliseconds. */
  ms: number
}

/** What all calls of one client share. */
export type Connection = {
  readonly baseUrl: string
  readonly apiKey: string | undefined
  readonly fetch: typeof globalThis.fetch
  readonly tokens: TokenSource
  readonly timeoutMs: number
  readonly deadlineMs: number
  readonly tries: number
  readonly onResponse: ((info: ResponseInfo) => void) | undefined
}

/** One call: an operation, what it takes, and its options. */
export type Call = { operation: OperationName; input: object; options: CallOptions }

/**
 * Makes a call and resolves with the body of its 200. Tries again what is safe to repeat and may pass; renews a
 * refused token once. Rejects with a `BenefitEnrolmentError`, or with the reason of the caller's signal.
 */
export const makeCall = async (connection: Connection, call: Call): Promise<unknown> => {
  const { operation, options } = call
  const request = prepareRequest(operation, call.input, options)
  const endsAt = performance.now() + connection.deadlineMs
  let made = 0
  let attempt = 0
  let hasRenewed = false
  let anEarlierTryMayHaveWorked = false
  for (;;) {
    const ms = Math.min(options.timeoutMs ?? connection.timeoutMs, endsAt - performance.now())
    attempt += 1
    const outcome = await tryOnce(connection, call, { request, attempt, ms })
    if (outcome.ok) return outcome.value
    const { error, refusedToken, wasSent } = outcome
    if (anEarlierTryMayHaveWorked && isOwnRepeat(operation, error)) return 'prefill saved'
    if (refusedToken !== undefined && !hasRenewed) {
      connection.tokens.discard(refusedToken)
      hasRenewed = true
      continue
    }
    made += 1
    if (!mayPass(error) || (wasSent && !request.isRepeatable)) throw error
    const wait = waitBeforeNextTry({
      made,
      tries: connection.tries,
      remainingMs: endsAt - performance.now(),
      retryAfterMs: error.retryAfterMs,
      random: Math.random(),
    })
    if (wait === undefined) throw error
    anEarlierTryMayHaveWorked ||= wasSent && mayHaveWorked(error)
    await pause(wait, options.signal)
  }
}

/** The service says that it had applied this very request before: an earlier try of ours worked (contract §4). */
const isOwnRepeat = (operation: OperationName, error: BenefitEnrolmentError): boolean =>
  operation === 'prefillUser' &&
  error.status === 409 &&
  error.replayed &&
  (error.code === 'user_exists' || error.code === 'prefill_superseded')

type Outcome =
  | { ok: true; value: unknown }
  | { ok: false; error: BenefitEnrolmentError; wasSent: boolean; refusedToken?: string }

type Try = { request: PreparedRequest; attempt: number; ms: number }

const tryOnce = async (
  connection: Connection,
  call: Call,
  { request, attempt, ms }: Try,
): Promise<Outcome> => {
  const { operation } = call
  const { signal: callerSignal } = call.options
  let wasSent = false
  try {
    return await withTimeLimit({ operation, ms, signal: callerSignal }, async (signal): Promise<Outcome> => {
      const token = await connection.tokens.get()
      signal.throwIfAborted()
      wasSent = true
      const startedAt = performance.now()
      const response = await send(connection, request, { token, signal })
      const answer = await readAnswer(operation, response)
      tell(connection.onResponse, {
        operation,
        status: response.status,
        requestId: response.headers.get('request-id') ?? undefined,
        replayed: isReplayed(response.headers),
        headers: response.headers,
        attempt,
        ms: performance.now() - startedAt,
      })
      if (answer.ok) return answer
      const { error, tokenIsBad } = answer
      return { ok: false, error, wasSent, ...(tokenIsBad ? { refusedToken: token } : {}) }
    })
  } catch (error) {
    if (callerSignal?.aborted) throw callerSignal.reason
    return { ok: false, error: isBenefitEnrolmentError(error) ? error : noAnswer(operation, error), wasSent }
  }
}

const send = (
  connection: Connection,
  request: PreparedRequest,
  { token, signal }: { token: string; signal: AbortSignal },
): Promise<Response> => {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  if (connection.apiKey !== undefined) headers.set('x-api-key', connection.apiKey)
  return connection.fetch(connection.baseUrl + request.path, {
    method: request.method,
    headers,
    // A redirect would carry the API key and the person's data to an address that nobody configured.
    redirect: 'manual',
    signal,
    ...(request.body === undefined ? {} : { body: request.body }),
  })
}

/** An observer that throws must not turn a write that worked into one that failed. */
const tell = (observer: Connection['onResponse'], info: ResponseInfo): void => {
  try {
    observer?.(info)
  } catch {}
}
