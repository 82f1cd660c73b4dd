import { type Coalesced, coalesce } from '../db/coalesce.ts'
import { CommitUnknown, type Database } from '../db/database.ts'
import { failureOf } from '../db/failure.ts'
import { sql } from '../db/sql.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Command, LedgerContext, Outcome } from './command.ts'
import { saveBatch } from './save.ts'
import { openSession, type Result, type Session } from './session.ts'

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
export const openLedger = (context: LedgerContext): Ledger => {
  const submit: Coalesced<Command<unknown>, Outcome<unknown>> = coalesce({
    maxBatch: 128,
    run: commands => runIsolated(context, commands),
  })
  return {
    submit: <Reply>(command: Command<Reply>) => submit(command) as Promise<Outcome<Reply>>,
    pending: submit.pending,
  }
}

/** Runs a batch; when the database refuses it for one command's sake, runs the commands one by one. */
const runIsolated = async (context: LedgerContext, commands: Command<unknown>[]): Promise<Result[]> => {
  try {
    return await runBatch(context, commands)
  } catch (error) {
    const failure = failureOf(error)
    if (error instanceof CommitUnknown || failure.unavailable)
      return commands.map(() => failed(unavailable(error)))
    if (commands.length === 1) return [failed(error)]
  }
  const results: Result[] = []
  for (const command of commands) {
    const [result] = await runIsolated(context, [command])
    if (result) results.push(result)
  }
  return results
}

const failed = (error: unknown): Result => ({ ok: false, error })
const unavailable = (cause: unknown) => new ServiceError('unavailable', undefined, { cause })

/** Runs a batch, again when another process wrote first, and finds out what a lost commit did. */
const runBatch = async (context: LedgerContext, commands: Command<unknown>[]): Promise<Result[]> => {
  for (let tries = 1; ; tries += 1) {
    let session: Session | undefined
    try {
      return await context.database
        .transaction(async tx => {
          session = await openSession(context, tx, commands)
          const results = commands.map(command => decideSafely(session as Session, command))
          if (session.wroteAnything()) await saveBatch(tx, session.batch())
          return results
        })
        .then(results => {
          session?.announce()
          return results
        })
    } catch (error) {
      if (error instanceof CommitUnknown && session && (await tookPlace(context.database, session))) {
        session.announce()
        return session.results()
      }
      // Keyed commands can be run again: their own claim tells whether they were applied.
      const mayRunAgain = error instanceof CommitUnknown && commands.every(command => command.claim)
      if (tries === 5 || !(mayRunAgain || failureOf(error).conflict)) throw error
    }
  }
}

const decideSafely = (session: Session, command: Command<unknown>): Result => {
  try {
    return session.note({ ok: true, value: session.decide(command) })
  } catch (error) {
    return session.note(failed(error))
  }
}

/** Whether a batch whose commit was lost took place: one of its rows tells for all. */
const tookPlace = async (database: Database, session: Session): Promise<boolean> => {
  const proof = session.proof()
  if (!proof) return false
  for (let tries = 0; tries < 20; tries += 1) {
    try {
      const rows = await database.query(sql`
        select 1 from history where partner_id = ${proof.partnerId} and service_id = ${proof.serviceId}
          and entry_id = ${proof.entryId}`)
      if (rows.length > 0) return true
      if (tries > 2) return false
    } catch {
      // The database is on its way back; the loop is bounded.
    }
    await new Promise(resolve => setTimeout(resolve, 150))
  }
  return false
}
