import { setTimeout as sleep } from 'node:timers/promises'
import { coalesceApart } from '../../db/coalesce.ts'
import { CommitUnknown, type Database, LOCK_TIMEOUT_MS } from '../../db/database.ts'
import { failureOf, Unavailable } from '../../db/failure.ts'
import type { Query } from '../../db/sql.ts'
import type { Command, CommandResult, ExecutorContext } from '../command.ts'
import { nameOf, nameOfUser } from '../reading/load.ts'
import { statementsOf } from '../saving/save.ts'
import {
  type BatchContext,
  decideBatch,
  openNewcomers,
  PartialDecision,
  ReadTooEarly,
  type Result,
} from './batch.ts'

/** The only way to change users. */
export type CommandExecutor = {
  /** Runs a command; resolves when its writes are durable. Rejects with `Unavailable`, or with what failed. */
  submit<Reply>(command: Command<Reply>): Promise<CommandResult<Reply>>
}

/**
 * Opens the executor. Commands that arrive together are decided one after the other in memory and written in one
 * transaction; each sees the changes of those before it. Those that cannot be written with their batch go on alone.
 */
export function openCommandExecutor(given: ExecutorContext, maxBatch = 128): CommandExecutor {
  const context: BatchContext = { ...given, newcomers: openNewcomers() }
  const lane = openLane((command, endsAt) => writeAlone(context, command, endsAt))
  const queues = coalesceApart<Command<unknown>, CommandResult<unknown>>(
    // While the database works for one batch, the next one is decided. Each cell has a queue of its own.
    ({ partner }) => given.database.cellOf(partner.partnerId),
    {
      name: 'change users',
      maxBatch,
      gatherMs: GATHER_MS,
      beside: { least: LEAST_BESIDE, afterMs: LONG_BATCH_MS, nameOf: nameOfUser },
      async run(commands) {
        // Who came after somebody that went on alone follows there: one user's commands take effect in their order.
        const following = new Map(commands.filter(lane.holds).map(command => [command, lane.enter(command)]))
        const results = await writeBatch(
          context,
          commands.filter(command => !following.has(command)),
        )
        return commands.map(command => following.get(command) ?? results.get(command) ?? lane.enter(command))
      },
    },
  )
  return {
    // Not an async function, because that would add a second promise to each command.
    submit<Reply>(command: Command<Reply>) {
      if (queues.pending() + lane.pending() >= MOST_PENDING)
        return Promise.reject(new Unavailable('too many commands wait'))
      return queues(command) as Promise<CommandResult<Reply>>
    },
  }
}

/**
 * An executor that decides commands and writes nothing: each is answered as if it were alone, and keys have no effect. It
 * rejects with what failed.
 */
export function openDryExecutor(given: ExecutorContext): CommandExecutor {
  const context = { ...given, newcomers: openNewcomers() }
  return {
    async submit<Reply>(command: Command<Reply>) {
      const alone = { ...command, reservation: undefined } as Command<unknown>
      const database = given.database.of(command.partner.partnerId)
      const { results } = await decideBatch({ ...context, database }, [alone], new Set())
      const [result] = results
      if (!result?.ok) throw result?.error
      return result.value as CommandResult<Reply>
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
/** How long a batch waits for a row that another database session has locked, before its commands go on alone. */
const BATCH_LOCK_MS = 100
/** So many times a batch is decided anew because another process wrote first, before its commands go on alone. */
const MOST_RACES = 2

/** Of so many users a batch sets refused rows aside, one decision after the other, before its commands go on alone. */
const MOST_REFUSED = 8

/** The results so far; commands without one go on alone. */
type Results = Map<Command<unknown>, Result>

/**
 * How commands are attempted: for which nothing is read, how long they wait for locks, where their results go, and where the names of
 * users of whom the database refused a row.
 */
type Attempt = {
  readonly unread?: ReadonlySet<Command<unknown>>
  readonly lockMs: number
  readonly results: Results
  readonly refused?: Set<string>
}

/** Reads, decides and writes commands in one transaction, and notes their results. Throws what kept it from being written. */
async function attempt(
  given: BatchContext,
  commands: readonly Command<unknown>[],
  { unread = new Set(), lockMs, results, refused }: Attempt,
): Promise<void> {
  const database = given.database.of(commands[0]?.partner.partnerId ?? '')
  const decided = await decideBatch({ ...given, database }, commands, unread)
  const statements = decided.writes ? statementsOf(decided.writes) : []
  try {
    if (statements.length > 0) await database.commit(statements, lockMs)
  } catch (error) {
    if (!(error instanceof CommitUnknown && (await wasCommitted(database, decided.proof)))) {
      for (const { user } of decided.writes?.changed.values() ?? [])
        if (detailOf(error).includes(user.serviceId)) refused?.add(nameOf(user))
      throw error
    }
  }
  decided.announce()
  for (const [index, command] of commands.entries()) {
    const result = decided.results[index]
    if (result) results.set(command, result)
  }
}

/** What PostgreSQL says beside an error: of a row that it refuses the columns or the key, with the user's id in either. */
function detailOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'detail' in error ? String(error.detail) : ''
}

/**
 * Writes a batch. A command that fails while it is decided is set aside, as are the commands of a user of whom the database refuses a
 * row, and the rest is written without them. Commands without a result could not be written together: they lost races to another
 * process, met a locked row, or the database refused a row.
 */
async function writeBatch(context: BatchContext, commands: Command<unknown>[]): Promise<Results> {
  const results: Results = new Map()
  const refused = new Set<string>()
  let open = commands
  let unread = context.newcomers.guess(commands)
  for (let races = 0; races < MOST_RACES && open.length > 0; ) {
    try {
      await attempt(context, open, { unread, lockMs: BATCH_LOCK_MS, results, refused })
      return results
    } catch (error) {
      if (error instanceof PartialDecision) {
        results.set(error.command, { ok: false, error: error.cause })
        open = open.filter(command => command !== error.command)
      } else if (isLostRace(error)) {
        // A wrong guess is no race.
        if (unread.size === 0) races += 1
        unread = new Set()
      } else if (!isAway(error)) {
        const rest = open.filter(command => !refused.has(nameOfUser(command)))
        if (rest.length === open.length || refused.size > MOST_REFUSED) return results
        open = rest
      } else {
        for (const command of open)
          if (!mayRepeat(command, error)) results.set(command, { ok: false, error: unavailable(error) })
        return results
      }
    }
  }
  return results
}

/** Writes one command as soon as races and locks allow, until an instant of `performance.now()`. Never rejects. */
async function writeAlone(context: BatchContext, command: Command<unknown>, endsAt: number): Promise<Result> {
  let late: unknown
  for (;;) {
    const remainingMs = Math.ceil(endsAt - performance.now())
    if (remainingMs <= 0) return { ok: false, error: unavailable(late) }
    const results: Results = new Map()
    try {
      await attempt(context, [command], { lockMs: Math.min(remainingMs, LOCK_TIMEOUT_MS), results })
      return results.get(command) ?? { ok: false, error: new Error('a command without a result') }
    } catch (error) {
      if (error instanceof PartialDecision) return { ok: false, error: error.cause }
      if (isAway(error) && !mayRepeat(command, error)) return { ok: false, error: unavailable(error) }
      if (!isAway(error) && !isLostRace(error) && !failureOf(error).lockTimedOut) return { ok: false, error }
      late = error
    }
  }
}

/** Whether another process wrote first, so that the command is to be decided on what it left. */
function isLostRace(error: unknown): boolean {
  return error instanceof ReadTooEarly || failureOf(error).lostRace
}

/** Whether the database cannot serve, rather than that somebody else has locked a row. */
function isAway(error: unknown): boolean {
  const { unavailable, lockTimedOut } = failureOf(error)
  return error instanceof CommitUnknown || (unavailable && !lockTimedOut)
}

/**
 * Whether a command whose commit got no answer may run again: its key shows whether it was applied, and waits for a
 * transaction that is still open. The caller of any other command is told that the result is unknown.
 */
function mayRepeat(command: Command<unknown>, error: unknown): boolean {
  return error instanceof CommitUnknown && command.reservation !== undefined
}

function unavailable(cause: unknown): Unavailable {
  return new Unavailable('not written', { cause })
}

/** For how long a database that is away is waited for, after the answer to a commit was lost. */
const PATIENCE_MS = 3000

/** Whether a commit without an answer took place: whether a row is there that only it could have written. */
async function wasCommitted(database: Database, proof: Query | undefined): Promise<boolean> {
  const endsAt = performance.now() + PATIENCE_MS
  for (let looks = 0; proof && looks < 3 && performance.now() < endsAt; await sleep(150)) {
    const rows = await database.query(proof).catch(() => undefined)
    if (rows && rows.length > 0) return true
    if (rows) looks += 1
  }
  return false
}

/** Where commands go on alone, so that they delay no others. */
type Lane = {
  /** Whether a command of the same user is there; later ones follow it. */
  holds(command: Command<unknown>): boolean
  /** Runs a command after the earlier ones of its user. */
  enter(command: Command<unknown>): Promise<Result>
  pending(): number
}

/** The most connections that commands of the lane may use; the others stay free for batches. */
const MOST_ALONE = 3
/** How long a command stays in the lane: a little less than the five seconds of contract §4, as it was in a batch before. */
const LANE_MS = 4500

/** Opens the lane; `run` runs one command alone until an instant of `performance.now()`, and never rejects. */
export function openLane(run: (command: Command<unknown>, endsAt: number) => Promise<Result>): Lane {
  const last = new Map<string, Promise<Result>>()
  const asleep: (() => void)[] = []
  let running = 0
  let pending = 0
  const runAfter = async (command: Command<unknown>, before: Promise<Result> | undefined) => {
    const endsAt = performance.now() + LANE_MS
    // Nobody waits here beyond that instant: who came before has an earlier one.
    await before
    if (running < MOST_ALONE) running += 1
    else await new Promise<void>(resolve => asleep.push(resolve))
    const result = await run(command, endsAt)
    const next = asleep.shift()
    // The place goes directly to the next command, so that a new arrival cannot take it.
    if (next) next()
    else running -= 1
    return result
  }
  return {
    // Mostly nobody is there, and then no name is made.
    holds: command => last.size > 0 && last.has(nameOfUser(command)),
    async enter(command) {
      const name = nameOfUser(command)
      const mine = runAfter(command, last.get(name))
      pending += 1
      last.set(name, mine)
      const result = await mine
      pending -= 1
      if (last.get(name) === mine) last.delete(name)
      return result
    },
    pending: () => pending,
  }
}

/**
 * Refuses writes while the disk is nearly full, because the database must never run out of disk, and while the copy is
 * quiet.
 */
export function guardWrites(executor: CommandExecutor, mayNotWrite: () => boolean): CommandExecutor {
  return {
    submit: command =>
      mayNotWrite()
        ? Promise.reject(new Unavailable('nothing may be written now'))
        : executor.submit(command),
  }
}
