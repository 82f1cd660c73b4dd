import type { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { bulkOperations, errors, type Locale, type RequestLimits } from '@benefit-enrolment/contract'
import type { FastifyRequest } from 'fastify'
import { bodyLines } from '../http/body-lines.ts'
import { localeOf } from '../http/locale.ts'
import { type Handlers, type MountContext, type Perform, performer } from '../http/mount.ts'
import { problemOf } from '../http/problem.ts'
import { asServiceError, logFailure, type ProblemContext } from '../http/send-problem.ts'
import { ServiceError } from '../http/service-error.ts'
import { takeTurn } from '../http/shedding/take-turn.ts'
import type { Turns } from '../http/shedding/turns.ts'
import { isBlank, type Line } from '../lines.ts'
import type { Caller } from '../partners/authenticate.ts'
import { answerInOrder } from './in-order.ts'
import { type LineRequest, readLine } from './read-line.ts'

/** The handlers of the single requests that lines stand for. */
export type LineHandlers = Handlers<Caller, (typeof bulkOperations)[keyof typeof bulkOperations]['id']>

/** The checks and the handler of each operation, by its id. */
type Performers = ReadonlyMap<string, Perform<Caller>>

/** What answering lines needs from the other parts. */
export type AnswerContext = Pick<MountContext<Caller>, 'authenticate' | 'limit'> &
  Pick<ProblemContext, 'baseUrl' | 'log'> & {
    readonly limits: RequestLimits
    readonly perform: Performers
    readonly turns: Turns
    /** Whether the process is about to end: a bulk is then broken off. */
    readonly isClosing: () => boolean
  }

/** How many lines of one bulk are under way at once, as of a partner with 64 connections: with 128, others’ reads wait longer. */
const MOST_UNDER_WAY = 64

/** Compiles the checks of the operations that a line may name. */
export function performers(
  handlers: LineHandlers,
  onRefusedBody?: MountContext<Caller>['onRefusedBody'],
): Performers {
  return new Map(
    Object.values(bulkOperations).map(operation => [
      operation.id,
      performer(operation, handlers[operation.id] as never, onRefusedBody),
    ]),
  )
}

/** The answers to the lines of a request, as a stream. A last line with an error says why the rest was not read. */
export function answerLines(request: FastifyRequest, context: AnswerContext): Readable {
  const { limits } = context
  const locale = localeOf(request.headers['accept-language'])
  let last = 0
  const refuse = (line: number, thrown: unknown): string => {
    const error = asServiceError(thrown, limits, request)
    logFailure(context, error, request.id)
    const problem = problemOf(error, { requestId: request.id, locale, baseUrl: context.baseUrl() })
    return answerText(line, errors[error.code].status, problem)
  }
  return answerInOrder(linesOf(request, context), {
    mostUnderWay: MOST_UNDER_WAY,
    failed: error => refuse(last + 1, error),
    // Each line is admitted before the next one is read, so that the lines about one user begin in their order.
    async begin({ number, bytes }) {
      last = number
      try {
        const begunAt = performance.now()
        const asked = readLine(bytes, limits)
        const readMs = performance.now() - begunAt
        const admitted = await admit(request, asked, context)
        const made = answerLine(request, asked, { ...admitted, context, locale, readMs })
        return {
          answer: made.then(
            body => answerText(number, 200, body),
            error => refuse(number, error),
          ),
        }
      } catch (error) {
        return { answer: refuse(number, error) }
      }
    },
  })
}

function answerText(line: number, status: number, body: unknown): string {
  return `${JSON.stringify({ line, status, body })}\n`
}

/** The lines that have an answer. Breaks off with `unavailable` when the process is about to end. */
async function* linesOf(
  { raw }: FastifyRequest,
  { limits, isClosing }: AnswerContext,
): AsyncGenerator<Line[]> {
  for await (const lines of bodyLines(raw, limits)) {
    if (isClosing()) throw new ServiceError('unavailable')
    yield lines.filter(({ bytes }) => bytes === undefined || !isBlank(bytes))
  }
}

type Admitted = { readonly caller: Caller; readonly end: () => void }

/**
 * Authenticates the caller of a line again, because a bulk may outlast its token, and waits for the partner's rate and for its
 * turn. Refuses as the single request would be.
 */
async function admit(
  request: FastifyRequest,
  { operation }: LineRequest,
  { authenticate, limit, turns }: AnswerContext,
): Promise<Admitted> {
  const known = authenticate(request, operation)
  const caller = known instanceof Promise ? await known : known
  while (limit(caller)?.refusal) await delay(RATE_WAIT_MS)
  const { partnerId } = caller.partner
  const end = turns.isOpen(partnerId)
    ? turns.begin(partnerId)
    : await takeTurn(turns, { caller: partnerId, lane: request.id, weight: 1 })
  return { caller, end }
}

const RATE_WAIT_MS = 50

/** Performs the request of a line. */
async function answerLine(
  request: FastifyRequest,
  asked: LineRequest,
  {
    context,
    caller,
    end,
    locale,
    readMs,
  }: Admitted & { context: AnswerContext; locale: Locale; readMs: number },
): Promise<unknown> {
  const begunAt = performance.now()
  let loopMs = readMs
  try {
    const answer = context.perform.get(asked.operation.id)?.({
      ...asked,
      caller,
      locale,
      requestId: request.id,
      address: () => request.ip,
      setHeader: () => {},
    })
    loopMs += performance.now() - begunAt
    return await answer
  } finally {
    context.turns.charge(caller.partner.partnerId, loopMs)
    end()
  }
}
