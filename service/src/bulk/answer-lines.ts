import type { Readable } from 'node:stream'
import { setTimeout as delay, setImmediate as loopTurn } from 'node:timers/promises'
import {
  bulk,
  bulkOperations,
  errors,
  type Locale,
  type Operation,
  type RequestLimits,
} from '@benefit-enrolment/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { bodyLines, dropRest, type Receiving } from '../http/body-lines.ts'
import { localeOf } from '../http/locale.ts'
import { type Handlers, type MountContext, type Perform, performer } from '../http/mount.ts'
import { problemOf } from '../http/problem.ts'
import { asServiceError, logFailure, type ProblemContext } from '../http/send-problem.ts'
import { ServiceError } from '../http/service-error.ts'
import { transportMs } from '../http/shedding/shedding.ts'
import { takeTurn } from '../http/shedding/take-turn.ts'
import type { Turns } from '../http/shedding/turns.ts'
import { isBlank, type Line } from '../lines.ts'
import { type Caller, requireScope } from '../partners/authenticate.ts'
import { answerInOrder, type Begun } from './in-order.ts'
import { type LineRequest, readLine } from './read-line.ts'

/** The handlers of the single requests that lines stand for. */
export type LineHandlers = Handlers<Caller, (typeof bulkOperations)[keyof typeof bulkOperations]['id']>

/** Answers the request of a line, or rejects with the refusal. */
type PerformLine = (
  asked: LineRequest,
  of: { caller: Caller; locale: Locale; request: FastifyRequest },
) => unknown

/** What answering lines needs from the other parts. */
export type AnswerContext = Pick<MountContext<Caller>, 'authenticate' | 'limit'> &
  Pick<ProblemContext, 'baseUrl' | 'log'> & {
    readonly limits: RequestLimits
    readonly perform: PerformLine
    readonly turns: Turns
    readonly loop: LoopTurns
    /** Whether the process is about to end: a bulk is then broken off. */
    readonly isClosing: () => boolean
  }

/** How many lines of one bulk are under way at once, as of a partner with 64 connections: with 128, others’ reads wait longer. */
const MOST_UNDER_WAY = 64
/** After so many lines that could not be read a bulk ends (contract §18). */
const MOST_UNREAD = 100

/** Compiles the checks of the operations that a line may name. */
export function performLines(
  handlers: LineHandlers,
  onRefusedBody?: MountContext<Caller>['onRefusedBody'],
): PerformLine {
  const performers = new Map<Operation, Perform<Caller>>(
    Object.values(bulkOperations).map(operation => [
      operation,
      performer(operation, handlers[operation.id] as never, onRefusedBody),
    ]),
  )
  return (asked, { caller, locale, request }) =>
    performers.get(asked.operation)?.({
      ...asked,
      caller,
      locale,
      requestId: request.id,
      address: () => request.ip,
      setHeader: () => {},
    })
}

/** Adds to a refusal for want of a user, or of what a user needs, that a dry run tries each line by itself. */
export function dryRun(perform: PerformLine): PerformLine {
  return (asked, of) => {
    const made = perform(asked, of)
    if (!(made instanceof Promise)) return made
    return made.catch((error: unknown) => {
      if (!(error instanceof ServiceError)) throw error
      const isWanting =
        error.code === 'user_not_found' || error.errors.some(({ code }) => code === 'required')
      if (!isWanting) throw error
      const detail = `${error.message} A dry run tries each line by itself: what an earlier line brings is not here yet.`
      throw new ServiceError(error.code, detail, error)
    })
  }
}

/** The answers to the lines of a request, as a stream. A last line with an error says why the rest was not read. */
export function answerLines(request: FastifyRequest, reply: FastifyReply, context: AnswerContext): Readable {
  const { limits, turns } = context
  const locale = localeOf(request.headers['accept-language'])
  const admit = admissionOf(request, context)
  let last = 0
  let unread = 0
  const refuse = (line: number, thrown: unknown): string => {
    const error = asServiceError(thrown, limits, request)
    logFailure(context, error, request.id)
    const problem = problemOf(error, { requestId: request.id, locale, baseUrl: context.baseUrl() })
    return answerText(line, errors[error.code].status, problem)
  }

  /** Reads and performs an admitted line; what it takes of the event loop, also for a refusal, is its partner's. */
  const answer = (
    { number, bytes }: Line,
    { caller, end }: Admitted,
  ): Promise<string> | string | undefined => {
    const begunAt = performance.now()
    let made: unknown
    try {
      if (bytes && isBlank(bytes)) return undefined
      let asked: LineRequest
      try {
        asked = readLine(bytes, limits)
      } catch (error) {
        unread += 1
        throw error
      }
      requireScope(caller, asked.operation)
      made = context.perform(asked, { caller, locale, request })
      if (!(made instanceof Promise)) return answerText(number, 200, made)
      return made.then(
        body => answerText(number, 200, body),
        error => refuse(number, error),
      )
    } catch (error) {
      return refuse(number, error)
    } finally {
      turns.charge(caller.partner.partnerId, performance.now() - begunAt)
      if (made instanceof Promise) made.then(end, end)
      else end()
    }
  }

  const receiving = receivingOf(request, context)
  const notAdmitted = ({ number, bytes }: Line, error: unknown): Begun => {
    if (bytes && isBlank(bytes)) return { answer: undefined }
    if (errors[asServiceError(error, limits, request).code].status === 401) unread += 1
    return { answer: refuse(number, error) }
  }

  async function* lines(): AsyncGenerator<Iterable<Line>> {
    for await (const some of bodyLines(request.raw, reply.raw, receiving)) yield someLines(some)
  }
  function* someLines(some: Iterable<Line>): Iterable<Line> {
    for (const line of some) {
      yield line
      if (unread >= MOST_UNREAD)
        throw new ServiceError(
          'bad_request',
          `${MOST_UNREAD} lines could not be read; the rest was not taken.`,
        )
    }
  }

  return answerInOrder(lines(), {
    mostUnderWay: MOST_UNDER_WAY,
    failed: error => refuse(last + 1, error),
    ending: () => dropRest(request.raw, reply.raw, receiving),
    // Each line is admitted before the next one is cut, so that the lines about one user begin in their order.
    begin(line) {
      last = line.number
      try {
        const admitted = admit()
        if (!(admitted instanceof Promise)) return { answer: answer(line, admitted) }
        return admitted.then(
          known => ({ answer: answer(line, known) }),
          error => notAdmitted(line, error),
        )
      } catch (error) {
        return notAdmitted(line, error)
      }
    },
  })
}

function answerText(line: number, status: number, body: unknown): string {
  return `${JSON.stringify({ line, status, body })}\n`
}

/** Charges the partner of a request for the parts of its body; what is not wanted is read at the partner's turn. */
export function receivingOf(
  { partnerId, id }: FastifyRequest,
  { limits, turns }: Pick<AnswerContext, 'limits' | 'turns'>,
): Receiving {
  return {
    limits,
    received: bytes => turns.charge(partnerId, transportMs(bytes)),
    async turn() {
      const end = await takeTurn(turns, { caller: partnerId, lane: id, weight: 1 })
      end()
    },
  }
}

type Admitted = { readonly caller: Caller; readonly end: () => void }

/**
 * Returns what admits the lines of a request. It authenticates the caller again, once in a turn of the event loop, because a bulk may
 * outlast its token, and waits for the partner's rate and for its turn. Refuses as the single request would be, and with
 * `unavailable` when the process is about to end.
 */
function admissionOf(request: FastifyRequest, context: AnswerContext): () => Admitted | Promise<Admitted> {
  const { authenticate, limit, turns, loop, isClosing } = context
  let known: { readonly caller: Caller; readonly turn: number } | undefined
  const enter = (caller: Caller): Admitted | Promise<Admitted> => {
    if (isClosing()) throw new ServiceError('unavailable')
    known = { caller, turn: loop.turn() }
    const { partnerId } = caller.partner
    const isAllowed = !limit(caller)?.refusal
    if (isAllowed && turns.isOpen(partnerId)) return { caller, end: turns.begin(partnerId) }
    const wait = async () => {
      for (let mayGoOn = isAllowed; !mayGoOn; mayGoOn = !limit(caller)?.refusal) {
        await delay(RATE_WAIT_MS)
        if (isClosing()) throw new ServiceError('unavailable')
      }
      return { caller, end: await takeTurn(turns, { caller: partnerId, lane: request.id, weight: 1 }) }
    }
    return wait()
  }
  const admit = (): Admitted | Promise<Admitted> => {
    const pause = loop.pause()
    if (pause) return pause.then(admit)
    if (known?.turn === loop.turn()) return enter(known.caller)
    const caller = authenticate(request, bulk)
    return caller instanceof Promise ? caller.then(enter) : enter(caller)
  }
  return admit
}

const RATE_WAIT_MS = 50

/** The turns of the event loop, as lines take them. */
export type LoopTurns = {
  /** The number of this turn. */
  turn(): number
  /** Resolves in the next turn, when lines have taken enough of this one. */
  pause(): Promise<void> | undefined
}

/**
 * Lets the event loop go on once the lines of all bulks have taken a millisecond of its turn. Lines that are in memory follow each
 * other without a turn between them: 64 KiB of line feeds would keep everything else from being read.
 */
export function openLoopTurns(): LoopTurns {
  let turn = 0
  let since: number | undefined
  const isOver = () => since !== undefined && performance.now() - since > LOOP_TURN_MS
  const nextTurn = async () => {
    while (isOver()) await loopTurn()
  }
  return {
    turn: () => turn,
    pause() {
      if (isOver()) return nextTurn()
      if (since === undefined) {
        since = performance.now()
        setImmediate(() => {
          turn += 1
          since = undefined
        })
      }
      return undefined
    },
  }
}

const LOOP_TURN_MS = 1
