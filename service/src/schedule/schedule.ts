import type { Database } from '../db/database.ts'
import { ServiceError } from '../http/service-error.ts'
import type { Ledger } from '../membership/ledger.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { type DueUser, findDue, timeUntilDue } from './due.ts'
import { deleteLapsed } from './housekeeping.ts'
import { openPace } from './pace.ts'

/** Applies what is due, on time and once. */
export type Schedule = {
  /** Applies everything due of one partner by its present business time, in order; gives how many users. */
  runPartner(partner: Partner): Promise<number>
  /** Applies what is due of all partners, and deletes what has lapsed when it is time to; gives how many users. */
  runAll(): Promise<number>
  /** Runs by itself from now on. */
  start(): void
  /** Ends the run that is under way, and no other begins. */
  close(): Promise<void>
}

/** It wakes when the next change is due, and this often for what other processes have planned meanwhile. */
const longestSleepMs = 10_000
/** After a fault, such as a database that restarts. */
const shortestSleepMs = 1000
/** Changes of one round, shared by the partners that have some; small, so that what becomes due meanwhile waits little. */
const changesOfARound = 512
const leastOfAPartner = 16
const housekeepingMs = 5 * 60_000
const retryMs = [30_000, 60_000, 120_000, 300_000, 600_000]

/**
 * Opens the schedule. A due user goes through the ledger like any command: whoever comes first applies it, the row
 * lock makes it once, and the events carry the due instants. Each round takes a bounded share of every partner, so
 * that a million due changes of one do not delay another's; a user whose change fails is passed over for a while, so
 * that it holds up nobody else.
 */
export const openSchedule = (context: {
  database: Database
  ledger: Ledger
  clock: Clock
  partners: () => Promise<Partner[]>
  /** Whether somebody is asking for something, who must not wait for what is due. */
  isServing: () => boolean
  /** Tidies what the slices leave behind, every few minutes. */
  tidy: () => Promise<unknown>
  onError: (error: unknown) => void
}): Schedule => {
  const { database, ledger, clock, onError } = context
  const pace = openPace(context.isServing)
  const failing = new Map<string, Failing>()
  /** Users that were found due and then had nothing to apply: found again, their row is written anew. */
  let idle = new Set<string>()
  let quota = changesOfARound
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let known: readonly Partner[] = []
  let running: Promise<unknown> = Promise.resolve()
  let ticking: Promise<void> = Promise.resolve()
  let tidyAt = clock.real()

  const clocked = (partner: Partner) => ({ partnerId: partner.partnerId, now: clock.now(partner) })

  const round = async (partners: readonly Partner[]): Promise<number> => {
    const byId = new Map(partners.map(partner => [partner.partnerId, partner]))
    const due = await findDue(database, partners.map(clocked), {
      quota,
      but: passedOver(failing, clock.real()),
    })
    const groups = new Set(due.map(user => user.partnerId)).size
    quota = Math.max(leastOfAPartner, Math.floor(changesOfARound / Math.max(1, groups)))
    const before = idle
    idle = new Set()
    const apply = async (user: DueUser) => {
      const partner = byId.get(user.partnerId)
      if (!partner) return
      const name = nameOf(user)
      try {
        const wasDue = await settleUser(ledger, partner, { userid: user.userid, anew: before.has(name) })
        if (!wasDue) idle.add(name)
        failing.delete(name)
      } catch (error) {
        if (error instanceof ServiceError && error.code === 'unavailable') throw error
        const tries = (failing.get(name)?.tries ?? 0) + 1
        const wait = retryMs[Math.min(tries, retryMs.length) - 1] ?? 0
        failing.set(name, { user, tries, until: clock.real() + wait })
        onError(error)
      }
    }
    await pace.drain(interleaved(due), slice => Promise.all(slice.map(apply)))
    return due.length
  }

  const untilDone = async (partners: readonly Partner[]): Promise<number> => {
    let count = 0
    for (;;) {
      const applied = isClosed ? 0 : await round(partners)
      count += applied
      if (applied === 0) return count
    }
  }

  const runOnce = async (): Promise<number> => {
    const partners = await context.partners()
    known = partners
    const count = await untilDone(partners)
    if (!isClosed && clock.real() >= tidyAt) {
      const isDone = await deleteLapsed(database, partners, clock)
      await context.tidy()
      tidyAt = isDone ? clock.real() + housekeepingMs : clock.real()
    }
    return count
  }

  /** One run after the other: two at once would find the same users due, and one of them for nothing. */
  const runAll = (): Promise<number> => {
    const run = running.then(runOnce)
    running = run.catch(ignore)
    return run
  }

  const tick = async (): Promise<void> => {
    let sleepMs = shortestSleepMs
    try {
      await runAll()
      if (!isClosed) sleepMs = await timeToSleep()
    } catch (error) {
      onError(error)
    }
    if (!isClosed) timer = setTimeout(start, sleepMs)
  }
  const start = () => {
    ticking = tick()
  }
  const timeToSleep = async (): Promise<number> => {
    const wait = (await timeUntilDue(database, known.map(clocked))) ?? longestSleepMs
    return Math.min(longestSleepMs, wait + 1)
  }

  return {
    runPartner: partner => untilDone([partner]),
    runAll,
    start,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await Promise.all([running, ticking])
    },
  }
}

const ignore = () => {}

type Failing = { readonly user: DueUser; readonly tries: number; readonly until: number }

const nameOf = (user: DueUser): string => `${user.partnerId} ${user.userid}`

const passedOver = (failing: ReadonlyMap<string, Failing>, now: number): DueUser[] =>
  [...failing.values()].filter(entry => entry.until > now).map(entry => entry.user)

/** One of each partner in turn, so that a batch of the ledger holds a share of every partner. */
const interleaved = (due: readonly DueUser[]): DueUser[] => {
  const places = new Map<string, number>()
  return due
    .map(user => {
      const place = places.get(user.partnerId) ?? 0
      places.set(user.partnerId, place + 1)
      return { user, place }
    })
    .sort((a, b) => a.place - b.place)
    .map(({ user }) => user)
}

/** A command that asks for nothing: the ledger applies what is due before it decides. Gives whether there was any. */
const settleUser = async (
  ledger: Ledger,
  partner: Partner,
  due: { userid: string; anew: boolean },
): Promise<boolean> => {
  let wasDue = false
  await ledger.submit({
    partner,
    userid: due.userid,
    who: 'schedule',
    why: 'due',
    decide: situation => {
      wasDue = situation.wasDue
      if (situation.member === undefined) return { refused: 'user_not_found', reasons: [] }
      const change = { user: situation.member.user, events: [] }
      return { answer: () => undefined, ...(due.anew ? { change } : {}) }
    },
  })
  return wasDue
}
