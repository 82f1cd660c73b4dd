import { setTimeout as sleep } from 'node:timers/promises'
import { coalesce } from '../db/coalesce.ts'
import { CommitUnknown, type Database } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { sql } from '../db/sql.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Command, LedgerContext, Outcome } from './command.ts'
import { saveBatch } from './save.ts'
import { HalfDecided, openSession, type Result, type Session, UserMoved } from './session.ts'
import { openWaitingRoom } from './waiting-room.ts'

/** The one way in which users change. */
export type Ledger = {
  /** Runs a command; resolves when what it wrote is durable. Rejects with ServiceError `unavailable` or `internal`. */
  submit<Reply>(command: Command<Reply>): Promise<Outcome<Reply>>
  /** Commands that wait or are under way. */
  pending(): number
}

/**
 * Opens the ledger. Commands that arrive together are decided one after the other in memory and written by one
 * transaction; each sees what those before it did. One that fails does not fail its neighbours.
 */
export const openLedger = (context: LedgerContext, maxBatch = 128): Ledger => {
  const waitingRoom = openWaitingRoom((command, lockTimeoutMs) =>
    runIsolated(context, [command], { lockTimeoutMs }),
  )
  const run = async (commands: Command<unknown>[]) => {
    try {
      return await runIsolated(context, commands, hasty)
    } catch (error) {
      // Somebody holds a row of one of them. Each goes on alone, so that only those who need that row wait for it.
      if (error instanceof LockTimedOut) return commands.map(waitingRoom.enter)
      throw error
    }
  }
  // While the database works for one, the other is decided. A user has always the same, so that no two batches need
  // one row.
  const even = coalesce<Command<unknown>, Outcome<unknown>>({ maxBatch, run })
  const odd = coalesce<Command<unknown>, Outcome<unknown>>({ maxBatch, run })
  const laneOf = ({ userid }: Command<unknown>) => (charSum(userid) % 2 === 0 ? even : odd)
  const pending = () => even.pending() + odd.pending() + waitingRoom.pending()
  return {
    async submit<Reply>(command: Command<Reply>) {
      if (pending() >= mostPending) throw new ServiceError('unavailable')
      if (!waitingRoom.holds(command)) return laneOf(command)(command) as Promise<Outcome<Reply>>
      const result = await waitingRoom.enter(command)
      if (!result.ok) throw result.error
      return result.value as Outcome<Reply>
    },
    pending,
  }
}

const charSum = (text: string): number => {
  let sum = 0
  for (let index = 0; index < text.length; index += 1) sum += text.charCodeAt(index)
  return sum
}

/** More than this is shed: whoever waits behind so many is not answered in time anyway. */
const mostPending = 20_000
/** How long a command that runs alone waits for a row (contract §4). */
const patientMs = 4500

/** A row that the batch needs is held by somebody else. */
class LockTimedOut extends Error {
  override name = 'LockTimedOut'
}

type Run = { readonly lockTimeoutMs: number; readonly lostCommits?: number }

/** How a batch runs: a row that somebody holds must not hold up all of it. */
const hasty: Run = { lockTimeoutMs: 100 }

/** Runs a batch; when one command breaks it, runs the commands one by one. Rejects only with `LockTimedOut`. */
const runIsolated = async (
  context: LedgerContext,
  commands: Command<unknown>[],
  run: Run,
): Promise<Result[]> => {
  try {
    return await runBatch(context, commands, run)
  } catch (error) {
    if (failureOf(error).lockTimedOut && run === hasty) throw new LockTimedOut('held', { cause: error })
    if (error instanceof CommitUnknown || failureOf(error).unavailable)
      return commands.map(() => failed(unavailable(error)))
    if (commands.length === 1) return [failed(error instanceof HalfDecided ? error.cause : error)]
  }
  const results: Result[] = []
  for (const command of commands)
    results.push(...(await runIsolated(context, [command], { ...run, lockTimeoutMs: patientMs })))
  return results
}

const failed = (error: unknown): Result => ({ ok: false, error })
const unavailable = (cause: unknown) => new ServiceError('unavailable', undefined, { cause })

/** Runs a batch, again when another process wrote first, and finds out what a lost commit did. */
const runBatch = async (
  context: LedgerContext,
  commands: Command<unknown>[],
  run: Run,
): Promise<Result[]> => {
  for (let tries = 1; ; tries += 1) {
    let session: Session | undefined
    try {
      const results = await context.database.transaction(async tx => {
        const opened = await openSession(context, tx, commands, run.lockTimeoutMs)
        session = opened
        const decided = commands.map(command => decideSafely(opened, command))
        if (opened.wroteAnything()) await saveBatch(tx, opened.batch())
        return decided
      })
      session?.announce()
      return results
    } catch (error) {
      if (error instanceof CommitUnknown && session)
        return afterLostCommit(context, { commands, session, error, run })
      if (tries === 5 || !(failureOf(error).conflict || error instanceof UserMoved)) throw error
    }
  }
}

const decideSafely = (session: Session, command: Command<unknown>): Result => {
  try {
    return session.note({ ok: true, value: session.decide(command) })
  } catch (error) {
    if (error instanceof HalfDecided) throw error
    return session.note(failed(error))
  }
}

type LostCommit = {
  commands: Command<unknown>[]
  session: Session
  error: CommitUnknown
  run: Run
}

/**
 * Answers a batch whose commit was lost. Where its rows are there, it took place. Where they are not, it may still be on
 * its way to the server: keyed commands are run again, since their claim tells whether they were applied and waits for a
 * transaction that is still open; the others must not be, so their callers learn that it is not known.
 */
const afterLostCommit = async (context: LedgerContext, lost: LostCommit): Promise<Result[]> => {
  const { commands, session, error, run } = lost
  const lostCommits = (run.lostCommits ?? 0) + 1
  if (await tookPlace(context.database, session)) {
    session.announce()
    return session.results()
  }
  const keyed = lostCommits < mostLostCommits ? commands.filter(command => command.claim) : []
  const again =
    keyed.length > 0 ? await runIsolated(context, keyed, { lockTimeoutMs: patientMs, lostCommits }) : []
  return commands.map(command => again[keyed.indexOf(command)] ?? failed(unavailable(error)))
}

const mostLostCommits = 3
const patienceMs = 3000

/** Whether a batch whose commit was lost took place: one of its rows tells for all. */
const tookPlace = async (database: Database, session: Session): Promise<boolean> => {
  const proof = session.proof()
  if (!proof) return false
  const deadline = performance.now() + patienceMs
  let looks = 0
  while (performance.now() < deadline) {
    try {
      const rows = await database.query(sql`
        select 1 from history where partner_id = ${proof.partnerId} and service_id = ${proof.serviceId}
          and entry_id = ${proof.entryId}`)
      if (rows.length > 0) return true
      looks += 1
      if (looks > 2) return false
    } catch {
      // The database is on its way back.
    }
    await sleep(150)
  }
  return false
}
