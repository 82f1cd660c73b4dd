import { isReplayed, noAnswer, readAnswer } from './answer.ts'
import { type BenefitEnrolmentError, isBenefitEnrolmentError } from './error.ts'
import type { CallOptions } from './options.ts'
import { type PreparedRequest, prepareRequest } from './request.ts'
import { mayHaveWorked, mayPass, waitBeforeNextAttempt } from './retry.ts'
import type { OperationName } from './routes.ts'
import { pause, withTimeLimit } from './time-limit.ts'
import type { TokenSource } from './token.ts'

/** One answer of the service, as `onResponse` gets it. */
export type ResponseInfo = {
  operation: OperationName
  status: number
  /** The id of the request in the operator's logs. */
  requestId: string | undefined
  /** Whether this repeats the answer to an earlier request with the same key (contract §4). */
  replayed: boolean
  /** The other headers of the answer, for example `retry-after`, `ratelimit` or `content-language`. */
  headers: Headers
  /** The number of the attempt; 1 for the first request of a call. */
  attempt: number
  /** From sending the request to the end of the answer, in milliseconds. */
  ms: number
}

/** One event of a call, for logs; it contains no secret and no personal data. */
export type LogEntry = {
  level: 'debug' | 'warn'
  /** What happened: a token was refused and is renewed, a call is attempted again, or a call failed for good. */
  event: 'renewing_token' | 'retrying' | 'failed'
  operation: OperationName
  attempt: number
  code: string
  status: number
  requestId: string | undefined
  /** How long it waits before the next attempt. */
  waitMs?: number
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
  readonly onLog: ((entry: LogEntry) => void) | undefined
}

/** The body of a 200, with the other facts of its answer. */
export type Answered = { readonly value: unknown; readonly response: ResponseInfo }

/** One call: an operation, its input, and its options. */
export type Call = { operation: OperationName; input: object; options: CallOptions }

/**
 * Makes a call and resolves with its 200. Repeats a request if that is safe and the failure may pass; renews a refused
 * token once. Rejects with a `BenefitEnrolmentError`, or with the reason of the caller's signal.
 */
export async function makeCall(connection: Connection, call: Call): Promise<Answered> {
  const { operation, options } = call
  const request = prepareRequest(operation, call.input, options)
  const endsAt = performance.now() + connection.deadlineMs
  let made = 0
  let attempt = 0
  let hasRenewed = false
  let anEarlierAttemptMayHaveWorked = false
  for (;;) {
    const ms = Math.min(options.timeoutMs ?? connection.timeoutMs, endsAt - performance.now())
    attempt += 1
    const outcome = await attemptOnce(connection, call, { request, attempt, ms })
    if (outcome.ok) return outcome
    const { error, refusedToken, wasSent, response } = outcome
    if (anEarlierAttemptMayHaveWorked && response && isOwnRepeat(operation, error))
      return { value: 'prefill saved', response }
    const log = (entry: Pick<LogEntry, 'level' | 'event' | 'waitMs'>) => {
      const { code, status, requestId } = error
      notify(connection.onLog, { ...entry, operation, attempt, code, status, requestId })
    }
    if (refusedToken !== undefined && !hasRenewed) {
      log({ level: 'debug', event: 'renewing_token' })
      connection.tokens.discard(refusedToken)
      hasRenewed = true
      continue
    }
    made += 1
    const fail = () => {
      log({ level: 'warn', event: 'failed' })
      return error
    }
    if (!mayPass(error) || (wasSent && !request.isRepeatable)) throw fail()
    const wait = waitBeforeNextAttempt({
      made,
      tries: connection.tries,
      remainingMs: endsAt - performance.now(),
      retryAfterMs: error.retryAfterMs,
      random: Math.random(),
    })
    if (wait === undefined) throw fail()
    log({ level: 'warn', event: 'retrying', waitMs: Math.round(wait) })
    anEarlierAttemptMayHaveWorked ||= wasSent && mayHaveWorked(error)
    await pause(wait, options.signal)
  }
}

/**
 * The service says that it has already applied this very request: an earlier attempt of this call succeeded (contract
 * §4).
 */
function isOwnRepeat(operation: OperationName, error: BenefitEnrolmentError): boolean {
  return (
    operation === 'prefillUser' &&
    error.status === 409 &&
    error.replayed &&
    (error.code === 'user_exists' || error.code === 'prefill_superseded')
  )
}

type Outcome =
  | ({ ok: true } & Answered)
  | {
      ok: false
      error: BenefitEnrolmentError
      wasSent: boolean
      refusedToken?: string | undefined
      response?: ResponseInfo
    }

type Attempt = { request: PreparedRequest; attempt: number; ms: number }

async function attemptOnce(
  connection: Connection,
  call: Call,
  { request, attempt, ms }: Attempt,
): Promise<Outcome> {
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
      const info: ResponseInfo = {
        operation,
        status: response.status,
        requestId: response.headers.get('request-id') ?? undefined,
        replayed: isReplayed(response.headers),
        headers: response.headers,
        attempt,
        ms: performance.now() - startedAt,
      }
      notify(connection.onResponse, info)
      if (answer.ok) return { ...answer, response: info }
      const { error, tokenIsBad } = answer
      return { ok: false, error, wasSent, response: info, refusedToken: tokenIsBad ? token : undefined }
    })
  } catch (error) {
    if (callerSignal?.aborted) throw callerSignal.reason
    return { ok: false, error: isBenefitEnrolmentError(error) ? error : noAnswer(operation, error), wasSent }
  }
}

function send(
  connection: Connection,
  request: PreparedRequest,
  { token, signal }: { token: string; signal: AbortSignal },
): Promise<Response> {
  const headers = new Headers(request.headers)
  headers.set('authorization', `Bearer ${token}`)
  if (connection.apiKey !== undefined) headers.set('x-api-key', connection.apiKey)
  return connection.fetch(connection.baseUrl + request.path, {
    method: request.method,
    headers,
    // A redirect would send the API key and personal data to an address that nobody configured.
    redirect: 'manual',
    signal,
    body: request.body ?? null,
  })
}

/** An observer that throws must not turn a successful write into a failure. */
function notify<T>(observer: ((info: T) => void) | undefined, info: T): void {
  try {
    observer?.(info)
  } catch {}
}
