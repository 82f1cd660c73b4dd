import { ofPartner } from '../../db/by-cell.ts'
import { coalesceApart } from '../../db/coalesce.ts'
import { CommitUnknown, LOCK_TIMEOUT_MS } from '../../db/database.ts'
import { failureOf, Unavailable } from '../../db/failure.ts'
import type { Command, CommandResult, ExecutorContext } from '../command.ts'
import { nameOfUser } from '../reading/load.ts'
import { wasCommitted } from '../saving/commit-proof.ts'
import { statementsOf } from '../saving/save.ts'
import { type DecidedBatch, decideBatch, PartialDecision, type Result } from './batch.ts'
import { type BatchContext, openNewcomers } from './newcomers.ts'
import { ReadTooEarly } from './read-batch.ts'
import { openWaitingRoom } from './waiting-room.ts'

/** The only way to change users. */
export type CommandExecutor = {
  /** Runs a command; resolves when its writes are durable. Rejects with `Unavailable`, or with what failed. */
  submit<Reply>(command: Command<Reply>): Promise<CommandResult<Reply>>
}

/**
 * Opens the executor. Commands that arrive together are decided one after the other in memory and written in one
 * transaction; each sees the changes of those before it. A command that fails does not fail its neighbors.
 */
export function openCommandExecutor(given: ExecutorContext, maxBatch = 128): CommandExecutor {
  const context: BatchContext = { ...given, newcomers: openNewcomers() }
  const waitingRoom = openWaitingRoom(async (command, longestMs) => {
    const results: Results = new Map()
    await runIsolated(context, [command], { results, endsAt: performance.now() + longestMs })
    return results.get(command)
  })
  const run = async (commands: Command<unknown>[]) => {
    const results: Results = new Map()
    await runIsolated(context, commands, { results })
    return commands.map(command => results.get(command) ?? waitingRoom.enter(command))
  }
  // While the database works for one batch, the next one is decided. Each cell has a queue of its own.
  const queueOf = ({ partner }: Command<unknown>) => given.database.cellOf(partner.partnerId)
  const beside = { least: LEAST_BESIDE, afterMs: LONG_BATCH_MS, nameOf: nameOfUser }
  const queues = coalesceApart<Command<unknown>, CommandResult<unknown>>(queueOf, {
    name: 'change users',
    maxBatch,
    gatherMs: GATHER_MS,
    beside,
    run,
  })
  const pending = () => queues.pending() + waitingRoom.pending()
  const submitToWait = async (command: Command<unknown>) => {
    const result = await waitingRoom.enter(command)
    if (!result.ok) throw result.error
    return result.value
  }
  return {
    // Not an async function, because that would add a second promise to each command.
    submit<Reply>(command: Command<Reply>) {
      if (pending() >= MOST_PENDING) return Promise.reject(new Unavailable('too many commands wait'))
      const result = waitingRoom.holds(command) ? submitToWait(command) : queues(command)
      return result as Promise<CommandResult<Reply>>
    },
  }
}

/**
 * A batch waits up to 4 ms while each turn of the event loop adds commands: a batch costs PostgreSQL 0.5 ms plus 26 µs a
 * command.
 */
const GATHER_MS = 4
/** The fewest commands that start a batch beside another: fewer are not worth a transaction of their own. */
const LEAST_BESIDE = 64
/**
 * A batch that takes longer than this is waiting for another database session: commands of other users then run in a
 * batch beside it.
 */
const LONG_BATCH_MS = 20
/** Beyond this number commands are refused, because they would not be answered in time anyway. */
const MOST_PENDING = 20_000
/**
 * For how long a single command that loses its races is attempted again, a little less than the five seconds of
 * contract §4.
 */
const RETRIED_FOR_MS = 4500
/** How long a batch waits for a row that another database session has locked, before its commands continue one by one. */
const BATCH_LOCK_MS = 100
/** After this many lost races a batch is split, so that a command that always loses delays fewer others. */
const MOST_RACES = 2

const nothing: ReadonlySet<Command<unknown>> = new Set()

/** The results so far; commands without one continue alone. */
type Results = Map<Command<unknown>, Result>

/**
 * How commands run: in a batch, or alone until an instant of `performance.now()`; where their results go; and how many
 * commits so far got no answer.
 */
type Run = { readonly results: Results; readonly endsAt?: number; readonly lostCommits?: number }

/**
 * Runs a batch; when one command fails it, its halves, and the commands of one user one by one. So the neighbors of a
 * command that fails wait for a few batches, not for a transaction of each. If another database session has locked the row
 * of one of the users, the commands of the batch get no results: each continues alone, so that only those that need the
 * locked row wait for it. Never rejects.
 */
async function runIsolated(given: BatchContext, commands: Command<unknown>[], run: Run): Promise<void> {
  const database = ofPartner(given.database, commands[0]?.partner.partnerId ?? '')
  const context = { ...given, database }
  try {
    await runBatch(context, commands, run)
  } catch (error) {
    if (failureOf(error).lockTimedOut && run.endsAt === undefined) return
    if (error instanceof CommitUnknown || failureOf(error).unavailable)
      fail(commands, run, unavailable(error))
    else if (commands.length === 1)
      fail(commands, run, error instanceof PartialDecision ? error.cause : error)
    else if (new Set(commands.map(nameOfUser)).size > 1) await runHalves(context, commands, run)
    else for (const command of commands) await runIsolated(context, [command], alone(run))
  }
}

function fail(commands: readonly Command<unknown>[], { results }: Run, error: unknown): void {
  for (const command of commands) results.set(command, { ok: false, error })
}

function succeed(commands: readonly Command<unknown>[], { results }: Run, decided: DecidedBatch): void {
  decided.announce()
  commands.forEach((command, index) => {
    const result = decided.results[index]
    if (result) results.set(command, result)
  })
}

function alone(run: Run): Run {
  return { endsAt: performance.now() + RETRIED_FOR_MS, ...run }
}

function unavailable(cause: unknown): Unavailable {
  return new Unavailable('not written', { cause })
}

/**
 * Reads, decides and writes a batch. If another process wrote first, the batch is read and decided again; after two
 * lost races it is split. If the answer to the commit was lost, finds out whether the commit took place.
 */
async function runBatch(context: BatchContext, commands: Command<unknown>[], run: Run): Promise<void> {
  const endsAt = run.endsAt ?? performance.now() + RETRIED_FOR_MS
  // Nothing is guessed for a command that runs again, because a wrong guess may be the reason why it does.
  let unread = run.endsAt === undefined ? context.newcomers.guess(commands) : nothing
  for (let races = 1; ; ) {
    let decided: DecidedBatch | undefined
    try {
      decided = await decideBatch(context, commands, unread)
      if (decided.writes)
        await context.database.commit(
          statementsOf(decided.writes),
          run.endsAt === undefined ? BATCH_LOCK_MS : undefined,
        )
      return succeed(commands, run, decided)
    } catch (error) {
      if (error instanceof CommitUnknown && decided)
        return afterLostCommit(context, { commands, decided, error, run })
      const isLost = failureOf(error).lostRace || error instanceof ReadTooEarly
      const isHeld = failureOf(error).lockTimedOut && run.endsAt !== undefined
      if (!isLost && !isHeld) throw error
      if (isLost && unread.size > 0) {
        unread = nothing
        continue
      }
      if (performance.now() > endsAt - (isHeld ? LOCK_TIMEOUT_MS : 0)) throw unavailable(error)
      if (races >= MOST_RACES && commands.length > 1) return runHalves(context, commands, run)
      races += 1
    }
  }
}

/** Runs the two halves of a batch one after the other; the commands of one user stay together and in order. */
async function runHalves(context: BatchContext, commands: Command<unknown>[], run: Run): Promise<void> {
  const users = [...new Set(commands.map(nameOfUser))]
  const firstUsers = new Set(users.slice(0, Math.ceil(users.length / 2)))
  for (const isFirst of [true, false]) {
    const half = commands.filter(command => firstUsers.has(nameOfUser(command)) === isFirst)
    const isWhole = half.length === commands.length
    if (half.length > 0) await runIsolated(context, half, isWhole ? alone(run) : run)
  }
}

type LostCommit = {
  commands: Command<unknown>[]
  decided: DecidedBatch
  error: CommitUnknown
  run: Run
}

/**
 * Answers a batch after the answer to its commit was lost. If one of its rows exists, the commit took place. If not,
 * the commit may still be on its way to the server. Commands with a key run again, because the key shows whether they
 * were applied, and waits for a transaction that is still open. Other commands must not run again; their callers are
 * told that the result is unknown.
 */
async function afterLostCommit(context: BatchContext, lost: LostCommit): Promise<void> {
  const { commands, decided, error, run } = lost
  if (await wasCommitted(context.database, decided.proof)) return succeed(commands, run, decided)
  const lostCommits = (run.lostCommits ?? 0) + 1
  const keyed = lostCommits < MOST_LOST_COMMITS ? commands.filter(command => command.reservation) : []
  fail(
    commands.filter(command => !keyed.includes(command)),
    run,
    unavailable(error),
  )
  if (keyed.length > 0)
    await runIsolated(context, keyed, {
      results: run.results,
      endsAt: performance.now() + RETRIED_FOR_MS,
      lostCommits,
    })
}

const MOST_LOST_COMMITS = 3
