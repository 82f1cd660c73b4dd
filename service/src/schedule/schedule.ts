/**
 * The schedule: applies changes when they are due, without a request. It also deletes expired data between its rounds.
 */
import { performance } from 'node:perf_hooks'
import { MINUTE_MS } from '../calendar/calendar.ts'
import type { Database } from '../db/database.ts'
import { isUnavailable } from '../db/failure.ts'
import { applyDueNow } from '../membership/commands/apply-due-now.ts'
import type { CommandExecutor } from '../membership/commands/executor.ts'
import { nameOf } from '../membership/reading/load.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { type DueUser, findDue, timeUntilDue } from './due.ts'
import { drain } from './pace.ts'
import { openPassedOver } from './passed-over.ts'
import { repeatedly } from './repeatedly.ts'

/** Applies due changes on time, each of them once. */
export type Schedule = {
  /** Applies every change of one partner that is due by its business time; returns how many users were found due. */
  runPartner(partner: Partner): Promise<number>
  /**
   * Applies what is due for one partner before its event log is read. Resolves after three seconds at the latest, and never
   * rejects: what takes longer, or cannot be applied now, is missing from the log until the runs have applied it.
   */
  catchUp(partner: Partner): Promise<void>
  /**
   * Applies every due change of all partners, and deletes expired data from time to time; returns how many users
   * were found due. Rejects when the database is away.
   */
  runAll(): Promise<number>
  /** Starts to run on its own. */
  start(): void
  /** Ends the current run; no further run begins. */
  close(): Promise<void>
}

/**
 * The schedule wakes when the next change is due, and at least this often, because other processes plan changes
 * too.
 */
const LONGEST_SLEEP_MS = 10_000
/** The pause after a fault, such as a restart of the database. */
const AFTER_FAULT_MS = 1000
/**
 * The changes of one round, divided among the partners that have some. Rounds are small, so that newly due changes
 * wait little.
 */
const CHANGES_OF_A_ROUND = 512
const LEAST_OF_A_PARTNER = 16
const HOUSEKEEPING_MS = 5 * MINUTE_MS
/** How long a read of the event log waits for due changes. */
const CATCH_UP_MS = 3000

/**
 * Opens the schedule. A due user goes through the executor like any command; the version of the user makes sure
 * that each change is applied once, by whichever process is first, and its events carry the instant at which it was
 * due. Each round takes a bounded share of every partner, so that a million due changes of one partner do not delay
 * those of others. A user whose change fails is left out for a while, so that it delays no other user.
 */
export function openSchedule(context: {
  database: Database
  executor: CommandExecutor
  clock: Clock
  partners: () => Promise<Partner[]>
  /** Whether requests are being served; they must not wait for due changes. */
  isServing: () => boolean
  /** Called every few minutes, to delete what has expired; returns false when more of it may be left. Never rejects. */
  tidy: (partners: readonly Partner[]) => Promise<boolean>
  onError: (error: unknown) => void
}): Schedule {
  const { database, executor, clock, onError } = context
  const passedOver = openPassedOver()
  /**
   * Users that were found due although nothing had to be applied. If they are found again, their row is written
   * again, which corrects its due time.
   */
  let idle = new Set<string>()
  let quota = CHANGES_OF_A_ROUND
  let isClosed = false
  let known: readonly Partner[] = []
  let running: Promise<unknown> = Promise.resolve()
  let tidyAt = clock.real()

  const clocked = (partner: Partner) => ({ partnerId: partner.partnerId, now: clock.now(partner) })

  const round = async (partners: readonly Partner[]): Promise<number> => {
    const byId = new Map(partners.map(partner => [partner.partnerId, partner]))
    const due = await findDue(database, partners.map(clocked), {
      quota,
      but: passedOver.at(clock.real()),
    })
    const groups = new Set(due.map(user => user.partnerId)).size
    quota = Math.max(LEAST_OF_A_PARTNER, Math.floor(CHANGES_OF_A_ROUND / Math.max(1, groups)))
    const before = idle
    idle = new Set()
    /** Returns the failure of a user who could not be written now. */
    const apply = async (user: DueUser): Promise<unknown> => {
      const partner = byId.get(user.partnerId)
      if (!partner) return undefined
      const name = nameOf(user)
      try {
        const wasDue = await applyDueNow(executor, partner, { userid: user.userid, anew: before.has(name) })
        if (!wasDue) idle.add(name)
        passedOver.applied(user)
        return undefined
      } catch (error) {
        if (isUnavailable(error)) {
          passedOver.couldNotWrite(user, clock.real())
          return error
        }
        passedOver.failed(user, clock.real())
        onError(error)
        return undefined
      }
    }
    await drain(interleaved(due), context.isServing, async slice => {
      const failures = (await Promise.all(slice.map(apply))).filter(failure => failure !== undefined)
      // If nobody of a slice can be written, the database is away. If some can, another database session may lock
      // the others for hours, and whoever comes after them must not wait for that.
      if (failures.length > 0 && failures.length === slice.length) throw failures[0]
      for (const failure of failures) onError(failure)
    })
    return due.length
  }

  const untilDone = async (
    partners: readonly Partner[],
    endsAt = Number.POSITIVE_INFINITY,
  ): Promise<number> => {
    let count = 0
    for (;;) {
      const applied = isClosed || performance.now() >= endsAt ? 0 : await round(partners)
      count += applied
      if (applied === 0) return count
    }
  }

  /** The last of each partner's catch-ups. They follow each other, as two at once would do the same work twice. */
  const catchUps = new Map<string, Promise<void>>()
  const catchUp = (partner: Partner): Promise<void> => {
    const { partnerId } = partner
    const endsAt = performance.now() + CATCH_UP_MS
    const run = (catchUps.get(partnerId) ?? Promise.resolve())
      .then(() => untilDone([partner], endsAt))
      .then(ignore, onError)
      .finally(() => {
        if (catchUps.get(partnerId) === run) catchUps.delete(partnerId)
      })
    catchUps.set(partnerId, run)
    return atMost(CATCH_UP_MS, run)
  }

  const runOnce = async (): Promise<number> => {
    const partners = await context.partners()
    known = partners
    try {
      return await untilDone(partners)
    } finally {
      // Also when due changes cannot be applied, because some of it is promised by a certain time.
      if (!isClosed && clock.real() >= tidyAt) {
        const begunAt = clock.real()
        tidyAt = (await context.tidy(partners)) ? begunAt + HOUSEKEEPING_MS : begunAt
      }
    }
  }

  /** Runs follow each other: two at once would find the same users due, and one would work in vain. */
  const runAll = (): Promise<number> => {
    const run = running.then(runOnce)
    running = run.catch(ignore)
    return run
  }

  const runs = repeatedly(0, async () => {
    try {
      await runAll()
      const wait = isClosed ? 0 : await timeUntilDue(database, known.map(clocked))
      return Math.min(LONGEST_SLEEP_MS, (wait ?? LONGEST_SLEEP_MS) + 1)
    } catch (error) {
      onError(error)
      return AFTER_FAULT_MS
    }
  })

  return {
    runPartner: partner => untilDone([partner]),
    catchUp,
    runAll,
    start: runs.start,
    async close() {
      isClosed = true
      await Promise.all([running, runs.close()])
    },
  }
}

function ignore() {}

/** Resolves with `work`, or after `ms` if that is earlier. */
function atMost(ms: number, work: Promise<void>): Promise<void> {
  return new Promise(resolve => {
    const timer = setTimeout(resolve, ms)
    void work.finally(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** Takes one user of each partner in turn, so that a batch of the executor holds a share of every partner. */
function interleaved(due: readonly DueUser[]): DueUser[] {
  const counts = new Map<string, number>()
  return due
    .map(user => {
      const index = counts.get(user.partnerId) ?? 0
      counts.set(user.partnerId, index + 1)
      return { user, index }
    })
    .sort((a, b) => a.index - b.index)
    .map(({ user }) => user)
}
