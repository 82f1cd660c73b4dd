import { isRecord, noAnswer, readAnswer } from './answer.ts'
import { type BulkLine, type LineToSend, linesToSend } from './bulk-lines.ts'
import type { Connection } from './call.ts'
import { type BenefitEnrolmentError, isBenefitEnrolmentError } from './error.ts'
import type { BulkAnswer } from './generated.ts'
import type { CallOptions } from './options.ts'
import { mayPass, waitBeforeNextAttempt } from './retry.ts'
import { pause } from './time-limit.ts'

/**
 * Sends many writes, a thousand in a request, and yields an answer for each, in their order; `line` counts from 1. A write that
 * was refused is an answer with its status and problem document. What was cut off or refused for load is sent again, with the
 * same key and body; when that does not help, the walk throws a `BenefitEnrolmentError`, or yields the refusal. With `dryRun`
 * nothing is written. It takes no more lines than you read answers.
 */
export type Bulk = (
  lines: Iterable<BulkLine> | AsyncIterable<BulkLine>,
  options?: BulkOptions,
) => AsyncGenerator<BulkAnswer>

type BulkOptions = Pick<CallOptions, 'acceptLanguage' | 'signal'> & { dryRun?: boolean }

/** Makes the bulk of a client. */
export function bulkOf(connection: Connection): Bulk {
  return async function* bulk(lines, options = {}) {
    for await (const some of linesToSend(lines)) yield* answersTo(connection, some, options)
  }
}

/** Answers in the order of the lines; sends the lines without a lasting answer again. */
async function* answersTo(
  connection: Connection,
  lines: readonly LineToSend[],
  options: BulkOptions,
): AsyncGenerator<BulkAnswer> {
  const lasting = new Map<LineToSend, BulkAnswer>()
  const passing = new Map<LineToSend, BulkAnswer>()
  let next = 0
  for (let made = 1, isRepeat = false; ; made += 1, isRepeat = true) {
    const open = lines.filter(line => !lasting.has(line))
    const had = lasting.size
    let failure: BenefitEnrolmentError | undefined
    try {
      for await (const { line, answer } of attempt(connection, open, options)) {
        const told = isRepeat ? asFirstAnswer(line, answer) : answer
        if (passes(told)) passing.set(line, told)
        else lasting.set(line, told)
        for (let first = ready(); first; first = ready()) yield first
      }
    } catch (error) {
      if (options.signal?.aborted) throw options.signal.reason
      failure = isBenefitEnrolmentError(error) ? error : noAnswer('bulk', error)
      if (!mayPass(failure) && failure.code !== 'unauthorized') throw failure
    }
    if (next === lines.length) return
    if (lasting.size > had) made = 1
    const wait = waitBeforeNextAttempt({
      made,
      tries: connection.tries,
      remainingMs: Number.POSITIVE_INFINITY,
      retryAfterMs: failure?.retryAfterMs,
      random: Math.random(),
    })
    if (wait === undefined) {
      if (failure) throw failure
      for (const line of open) {
        const refused = passing.get(line)
        if (!lasting.has(line) && refused) lasting.set(line, refused)
      }
      for (let first = ready(); first; first = ready()) yield first
      if (next === lines.length) return
      throw noAnswer('bulk', undefined)
    }
    await pause(wait, options.signal)
  }

  /** The next answer, once it is known. */
  function ready(): BulkAnswer | undefined {
    const line = lines[next]
    const answer = line && lasting.get(line)
    if (answer) next += 1
    return answer
  }
}

/** Whether a line may be answered otherwise when it is sent again. */
function passes({ status, body }: BulkAnswer): boolean {
  if ([408, 429, 500, 503].includes(status) || codeOf(body) === 'unauthorized') return true
  // After many lines that cannot be read the service stops, and says so at the next one, which may be right.
  const faults = isRecord(body) ? body['errors'] : undefined
  return codeOf(body) === 'bad_request' && Array.isArray(faults) && faults.length === 0
}

/** A repeated prefill that was applied the first time is told so by 409 (contract §4): the first answer was 200. */
function asFirstAnswer({ operation }: LineToSend, answer: BulkAnswer): BulkAnswer {
  const isOwn = answer.status === 409 && ['user_exists', 'prefill_superseded'].includes(codeOf(answer.body))
  return operation === 'prefill' && isOwn ? { ...answer, status: 200, body: 'prefill saved' } : answer
}

function codeOf(body: unknown): string {
  return isRecord(body) ? String(body['code']) : ''
}

type LineAnswer = { readonly line: LineToSend; readonly answer: BulkAnswer }

/** Sends lines once, and yields their answers as they come. Rejects when the request is refused or breaks off. */
async function* attempt(
  connection: Connection,
  lines: readonly LineToSend[],
  options: BulkOptions,
): AsyncGenerator<LineAnswer> {
  const { signal } = options
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  // Each part of the answer may take as long as that of a single call; how long the caller takes does not count.
  const inTime: InTime = async work => {
    const timer = setTimeout(() => controller.abort(), connection.timeoutMs)
    try {
      return await work
    } finally {
      clearTimeout(timer)
    }
  }
  try {
    signal?.throwIfAborted()
    const token = await connection.tokens.get()
    const body = lines.map(({ text }) => text).join('')
    const response = await inTime(send(connection, { token, body, signal: controller.signal, ...options }))
    if (response.status !== 200 || response.body === null) {
      const refusal = await inTime(readAnswer('bulk', response))
      if (refusal.ok) throw noAnswer('bulk', undefined)
      if (refusal.tokenIsBad) connection.tokens.discard(token)
      throw refusal.error
    }
    for await (const answer of answersIn(response.body, inTime)) {
      const line = lines[answer.line - 1]
      if (codeOf(answer.body) === 'unauthorized') connection.tokens.discard(token)
      if (line) yield { line, answer: { ...answer, line: line.number } }
    }
  } finally {
    signal?.removeEventListener('abort', abort)
    // A caller that leaves the walk ends its request, too.
    controller.abort()
  }
}

type InTime = <T>(work: Promise<T>) => Promise<T>

function send(
  { baseUrl, apiKey, fetch }: Connection,
  {
    token,
    body,
    signal,
    dryRun,
    acceptLanguage,
  }: Omit<BulkOptions, 'signal'> & { token: string; body: string; signal: AbortSignal },
): Promise<Response> {
  return fetch(`${baseUrl}/user/bulk${dryRun ? '?dryrun=true' : ''}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/x-ndjson, application/problem+json',
      'content-type': 'application/x-ndjson',
      ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      ...(acceptLanguage !== undefined && { 'accept-language': acceptLanguage }),
    },
    redirect: 'manual',
    signal,
    body,
  })
}

/** The answers in a body, a line each. */
async function* answersIn(body: ReadableStream<Uint8Array>, inTime: InTime): AsyncGenerator<BulkAnswer> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await inTime(reader.read())
    if (done) return
    const parts = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) yield JSON.parse(part) as BulkAnswer
  }
}
