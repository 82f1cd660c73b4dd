import { coalesceApart } from '../../db/coalesce.ts'
import { CommitUnknown, LOCK_TIMEOUT_MS } from '../../db/database.ts'
import { failureOf, Unavailable } from '../../db/failure.ts'
import { type DecidedBatch, decideBatch, PartialDecision, type Result, RunsLater } from './batch.ts'
import type { Command, CommandResult, ExecutorContext } from './command.ts'
import { wasCommitted } from './commit-proof.ts'
import { nameOf } from './load.ts'
import { type BatchContext, openNewcomers } from './newcomers.ts'
import { ReadTooEarly } from './read-batch.ts'
import { statementsOf } from './save.ts'
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
  const waitingRoom = openWaitingRoom((command, longestMs) =>
    runIsolated(context, [command], { endsAt: performance.now() + longestMs }),
  )
  const run = async (commands: Command<unknown>[]) => {
    try {
      const results = await runIsolated(context, commands, {})
      return results.map((result, index) => {
        const command = commands[index]
        return command && isLater(result) ? waitingRoom.enter(command) : result
      })
    } catch (error) {
      // Another database session has locked the row of one of these users. Commands that are done keep their results; each
      // of the others continues alone, so that only those that need the locked row wait for it.
      if (error instanceof LockTimedOut)
        return commands.map(command => {
          const done = error.done.get(command)
          return done && !isLater(done) ? done : waitingRoom.enter(command)
        })
      throw error
    }
  }
  // While the database works for one batch, the next one is decided. On a cluster each partner has a queue of its own,
  // so that a transaction stays on one node.
  const queueOf = ({ partner }: Command<unknown>) =>
    context.database.layout.isSpread ? partner.partnerId : ''
  const beside = { least: LEAST_BESIDE, afterMs: LONG_BATCH_MS, nameOf: nameOfUser }
  const queues = coalesceApart<Command<unknown>, CommandResult<unknown>>(queueOf, {
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
 * How long a batch waits at most while each turn of the event loop brings more commands. A batch costs the database 0.5
 * ms, and 26 µs for each command, and fewer batches cost this process less, too.
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

/** Another database session has locked a row of the batch; `done` has the results of the commands that did not need it. */
class LockTimedOut extends Error {
  override name = 'LockTimedOut'
  readonly done: ReadonlyMap<Command<unknown>, Result>

  constructor(cause: unknown, done: ReadonlyMap<Command<unknown>, Result>) {
    super('held', { cause })
    this.done = done
  }
}

/**
 * How commands run: in a batch, or alone until an instant of `performance.now()`; and how many commits so far got no
 * answer.
 */
type Run = { readonly endsAt?: number; readonly lostCommits?: number }

/**
 * Runs a batch; when one command fails it, its halves, and the commands of one user one by one. So the neighbors of a
 * command that fails wait for a few batches, not for a transaction of each. Rejects only with `LockTimedOut`.
 */
async function runIsolated(context: BatchContext, commands: Command<unknown>[], run: Run): Promise<Result[]> {
  try {
    return await runBatch(context, commands, run)
  } catch (error) {
    if (failureOf(error).lockTimedOut && run.endsAt === undefined) throw new LockTimedOut(error, new Map())
    if (error instanceof LockTimedOut) throw error
    if (error instanceof CommitUnknown || failureOf(error).unavailable)
      return commands.map(() => failed(unavailable(error)))
    if (commands.length === 1) return [failed(error instanceof PartialDecision ? error.cause : error)]
  }
  if (new Set(commands.map(nameOfUser)).size > 1) return runHalves(context, commands, run)
  const results: Result[] = []
  for (const command of commands) results.push(...(await runIsolated(context, [command], alone(run))))
  return results
}

function nameOfUser({ partner, userid }: Command<unknown>): string {
  return nameOf({ partnerId: partner.partnerId, userid })
}

function isLater(result: Result): boolean {
  return !result.ok && result.error instanceof RunsLater
}

function alone(run: Run): Run {
  return { endsAt: performance.now() + RETRIED_FOR_MS, ...run }
}

function failed(error: unknown): Result {
  return { ok: false, error }
}

function unavailable(cause: unknown): Unavailable {
  return new Unavailable('not written', { cause })
}

/**
 * Reads, decides and writes a batch. If another process wrote first, the batch is read and decided again; after two
 * lost races it is split. If the answer to the commit was lost, finds out whether the commit took place.
 */
async function runBatch(context: BatchContext, commands: Command<unknown>[], run: Run): Promise<Result[]> {
  const endsAt = run.endsAt ?? performance.now() + RETRIED_FOR_MS
  // Nothing is guessed for a command that runs again, because a wrong guess may be the reason why it does.
  let unread = run.endsAt === undefined ? context.newcomers.guess(commands) : nothing
  for (let races = 1; ; ) {
    let decided: DecidedBatch | undefined
    try {
      decided = await decideBatch(context, commands, unread)
      if (decided.writes)
        await context.database.commit(
          statementsOf(decided.writes, context.database.layout),
          run.endsAt === undefined ? BATCH_LOCK_MS : undefined,
        )
      decided.announce()
      return decided.results
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

/**
 * Runs the two halves of a batch one after the other; the commands of one user stay together and in order. A half that
 * needs a locked row fails the whole at the end, since the other half is written and must not run again.
 */
async function runHalves(context: BatchContext, commands: Command<unknown>[], run: Run): Promise<Result[]> {
  const names = commands.map(nameOfUser)
  const users = [...new Set(names)]
  const firstUsers = new Set(users.slice(0, Math.ceil(users.length / 2)))
  const results = new Map<Command<unknown>, Result>()
  let held: LockTimedOut | undefined
  for (const isFirst of [true, false]) {
    const half = commands.filter((_, index) => firstUsers.has(names[index] ?? '') === isFirst)
    const isWhole = half.length === commands.length
    try {
      const done = half.length === 0 ? [] : await runIsolated(context, half, isWhole ? alone(run) : run)
      half.forEach((command, index) => {
        const result = done[index]
        if (result) results.set(command, result)
      })
    } catch (error) {
      if (!(error instanceof LockTimedOut)) throw error
      held = error
      for (const [command, result] of error.done) results.set(command, result)
    }
  }
  if (held) throw new LockTimedOut(held, results)
  return commands.map(command => results.get(command) ?? failed(new Error('a command without a result')))
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
async function afterLostCommit(context: BatchContext, lost: LostCommit): Promise<Result[]> {
  const { commands, decided, error, run } = lost
  const lostCommits = (run.lostCommits ?? 0) + 1
  if (await wasCommitted(context.database, decided.proof)) {
    decided.announce()
    return decided.results
  }
  const keyed = lostCommits < MOST_LOST_COMMITS ? commands.filter(command => command.reservation) : []
  const again = keyed.length > 0 ? await runIsolated(context, keyed, { ...alone({}), lostCommits }) : []
  return commands.map(command => again[keyed.indexOf(command)] ?? failed(unavailable(error)))
}

const MOST_LOST_COMMITS = 3
