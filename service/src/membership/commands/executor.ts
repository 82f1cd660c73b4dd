import { setTimeout as sleep } from 'node:timers/promises'
import { coalesceApart } from '../../db/coalesce.ts'
import { CommitUnknown, type Database, lockTimeoutMs } from '../../db/database.ts'
import { failureOf } from '../../db/failure.ts'
import type { Query } from '../../db/sql.ts'
import { ServiceError } from '../../http/service-error.ts'
import {
  type DecidedBatch,
  decideBatch,
  nameOf,
  PartialDecision,
  ReadTooEarly,
  type Result,
} from './batch.ts'
import type { Command, CommandResult, ExecutorContext } from './command.ts'
import { statementsOf } from './save.ts'
import { openWaitingRoom } from './waiting-room.ts'

/** The one way in which users change. */
export type CommandExecutor = {
  /** Runs a command; resolves when what it wrote is durable. Rejects with ServiceError `unavailable` or `internal`. */
  submit<Reply>(command: Command<Reply>): Promise<CommandResult<Reply>>
  /** Commands that wait or are under way. */
  pending(): number
}

/**
 * Opens the executor. Commands that arrive together are decided one after the other in memory and written by one
 * transaction; each sees what those before it did. One that fails does not fail its neighbours.
 */
export function openCommandExecutor(context: ExecutorContext, maxBatch = 128): CommandExecutor {
  const waitingRoom = openWaitingRoom((command, longestMs) =>
    runIsolated(context, [command], { endsAt: performance.now() + longestMs }),
  )
  const run = async (commands: Command<unknown>[]) => {
    try {
      return await runIsolated(context, commands, {})
    } catch (error) {
      // Somebody holds a row of one of them. Each goes on alone, so that only those who need that row wait for it.
      if (error instanceof LockTimedOut) return commands.map(waitingRoom.enter)
      throw error
    }
  }
  // While the database works for one batch, the other is decided. Where tables are spread, a partner has a queue of its own,
  // so that a transaction stays on one node.
  const queueOf = ({ partner }: Command<unknown>) =>
    context.database.layout.isSpread ? partner.partnerId : ''
  const nameOfUser = ({ partner, userid }: Command<unknown>) =>
    nameOf({ partnerId: partner.partnerId, userid })
  const beside = { least: leastBeside, afterMs: longBatchMs, nameOf: nameOfUser }
  const queues = coalesceApart<Command<unknown>, CommandResult<unknown>>(queueOf, { maxBatch, beside, run })
  const pending = () => queues.pending() + waitingRoom.pending()
  return {
    async submit<Reply>(command: Command<Reply>) {
      if (pending() >= mostPending) throw new ServiceError('unavailable')
      if (!waitingRoom.holds(command)) return queues(command) as Promise<CommandResult<Reply>>
      const result = await waitingRoom.enter(command)
      if (!result.ok) throw result.error
      return result.value as CommandResult<Reply>
    },
    pending,
  }
}

/** A batch costs the database 1 ms and 34 µs for each command, so smaller ones are not worth a transaction of their own. */
const leastBeside = 32
/** A batch that takes longer than this waits for somebody else: commands of other users go on beside it. */
const longBatchMs = 20
/** More than this is shed: whoever waits behind so many is not answered in time anyway. */
const mostPending = 20_000
/** How long one command that loses its races goes on, a little less than the five seconds of contract §4. */
const patientMs = 4500
/** How long a batch waits for a row that somebody else holds, before its commands go on one by one. */
const batchLockMs = 100
/** After so many lost races a batch is split, so that who is always too slow holds up fewer. */
const mostRaces = 2

/** A row that the batch needs is held by somebody else. */
class LockTimedOut extends Error {
  override name = 'LockTimedOut'
}

/** How commands run: in a batch, or alone until an instant of `performance.now()`; after so many commits without answer. */
type Run = { readonly endsAt?: number; readonly lostCommits?: number }

/** Runs a batch; when one command breaks it, runs the commands one by one. Rejects only with `LockTimedOut`. */
async function runIsolated(
  context: ExecutorContext,
  commands: Command<unknown>[],
  run: Run,
): Promise<Result[]> {
  try {
    return await runBatch(context, commands, run)
  } catch (error) {
    if (failureOf(error).lockTimedOut && run.endsAt === undefined)
      throw new LockTimedOut('held', { cause: error })
    if (error instanceof LockTimedOut) throw error
    if (error instanceof CommitUnknown || failureOf(error).unavailable)
      return commands.map(() => failed(unavailable(error)))
    if (commands.length === 1) return [failed(error instanceof PartialDecision ? error.cause : error)]
  }
  const results: Result[] = []
  for (const command of commands) results.push(...(await runIsolated(context, [command], alone(run))))
  return results
}

function alone(run: Run): Run {
  return { endsAt: performance.now() + patientMs, ...run }
}

function failed(error: unknown): Result {
  return { ok: false, error }
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', undefined, { cause })
}

/**
 * Reads, decides and writes a batch. Where somebody else wrote first, it is read and decided again; twice too slow, it is
 * split. What a lost commit did is found out.
 */
async function runBatch(context: ExecutorContext, commands: Command<unknown>[], run: Run): Promise<Result[]> {
  const endsAt = run.endsAt ?? performance.now() + patientMs
  for (let races = 1; ; races += 1) {
    let decided: DecidedBatch | undefined
    try {
      decided = await decideBatch(context, commands)
      if (decided.writes)
        await context.database.commit(
          statementsOf(decided.writes, context.database.layout),
          run.endsAt === undefined ? batchLockMs : undefined,
        )
      decided.announce()
      return decided.results
    } catch (error) {
      if (error instanceof CommitUnknown && decided)
        return afterLostCommit(context, { commands, decided, error, run })
      const isLost = failureOf(error).lostRace || error instanceof ReadTooEarly
      const isHeld = failureOf(error).lockTimedOut && run.endsAt !== undefined
      if (!isLost && !isHeld) throw error
      if (performance.now() > endsAt - (isHeld ? lockTimeoutMs : 0)) throw unavailable(error)
      if (races >= mostRaces && commands.length > 1) return runHalves(context, commands, run)
    }
  }
}

/** Runs the two halves of a batch one after the other; the commands of one user stay together and in their order. */
async function runHalves(
  context: ExecutorContext,
  commands: Command<unknown>[],
  run: Run,
): Promise<Result[]> {
  const names = commands.map(({ partner, userid }) => nameOf({ partnerId: partner.partnerId, userid }))
  const users = [...new Set(names)]
  const firstUsers = new Set(users.slice(0, Math.ceil(users.length / 2)))
  const results = new Map<Command<unknown>, Result>()
  for (const isFirst of [true, false]) {
    const half = commands.filter((_, index) => firstUsers.has(names[index] ?? '') === isFirst)
    const isWhole = half.length === commands.length
    const done = half.length === 0 ? [] : await runIsolated(context, half, isWhole ? alone(run) : run)
    half.forEach((command, index) => {
      const result = done[index]
      if (result) results.set(command, result)
    })
  }
  return commands.map(command => results.get(command) ?? failed(new Error('a command without a result')))
}

type LostCommit = {
  commands: Command<unknown>[]
  decided: DecidedBatch
  error: CommitUnknown
  run: Run
}

/**
 * Answers a batch whose commit was lost. Where one of its rows is there, it took place. Where none is, the commit may
 * still be on its way to the server: keyed commands are run again, since their key tells whether they were applied and
 * waits for a transaction that is still open; the others must not be, so their callers learn that it is not known.
 */
async function afterLostCommit(context: ExecutorContext, lost: LostCommit): Promise<Result[]> {
  const { commands, decided, error, run } = lost
  const lostCommits = (run.lostCommits ?? 0) + 1
  if (await tookPlace(context.database, decided.proof)) {
    decided.announce()
    return decided.results
  }
  const keyed = lostCommits < mostLostCommits ? commands.filter(command => command.reservation) : []
  const again = keyed.length > 0 ? await runIsolated(context, keyed, { ...alone({}), lostCommits }) : []
  return commands.map(command => again[keyed.indexOf(command)] ?? failed(unavailable(error)))
}

const mostLostCommits = 3
const patienceMs = 3000

/** Whether a batch whose commit was lost took place. */
async function tookPlace(database: Database, proof: Query | undefined): Promise<boolean> {
  if (!proof) return false
  const deadline = performance.now() + patienceMs
  let looks = 0
  while (performance.now() < deadline) {
    try {
      if ((await database.query(proof)).length > 0) return true
      looks += 1
      if (looks > 2) return false
    } catch {
      // The database is on its way back.
    }
    await sleep(150)
  }
  return false
}
