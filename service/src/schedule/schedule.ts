import type { Database } from '../db/database.ts'
import type { Ledger } from '../membership/ledger.ts'
import type { Clock, Partner } from '../partners/partner.ts'
import { findDue } from './due.ts'

/** Applies what is due, on time and once. */
export type Schedule = {
  /** Applies everything due of one partner by its present business time, in order; gives how many users. */
  runPartner(partner: Partner): Promise<number>
  /** Applies what is due of all partners; gives how many users. */
  runAll(): Promise<number>
  /** Runs by itself from now on. */
  start(): void
  /** Ends the run that is under way, and no other begins. */
  close(): Promise<void>
}

const pollMs = 2000
const quotaOfAPartner = 500

/**
 * Opens the schedule. A due user goes through the ledger like any command: whoever comes first applies it, the row
 * lock makes it once, and the events carry the due instants. Each round takes a bounded share of every partner, so
 * that a million due changes of one do not delay another's.
 */
export const openSchedule = (context: {
  database: Database
  ledger: Ledger
  clock: Clock
  partners: () => Promise<Partner[]>
  onError: (error: unknown) => void
}): Schedule => {
  const { database, ledger, clock, onError } = context
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let running: Promise<unknown> = Promise.resolve()

  const round = async (partners: readonly Partner[]): Promise<number> => {
    const byId = new Map(partners.map(partner => [partner.partnerId, partner]))
    const due = await findDue(
      database,
      partners.map(partner => ({ partnerId: partner.partnerId, now: clock.now(partner) })),
      quotaOfAPartner,
    )
    await Promise.all(
      due.map(async entry => {
        const partner = byId.get(entry.partnerId)
        if (partner) await settleUser(ledger, partner, entry.userid)
      }),
    )
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

  const tick = async (): Promise<void> => {
    try {
      await untilDone(await context.partners())
    } catch (error) {
      onError(error)
    }
    if (!isClosed) timer = setTimeout(run, pollMs)
  }
  const run = () => {
    running = tick()
  }

  return {
    runPartner: partner => untilDone([partner]),
    runAll: async () => untilDone(await context.partners()),
    start: run,
    async close() {
      isClosed = true
      clearTimeout(timer)
      await running
    },
  }
}

/** A command that asks for nothing: the ledger applies what is due before it decides. */
const settleUser = async (ledger: Ledger, partner: Partner, userid: string): Promise<void> => {
  await ledger.submit({
    partner,
    userid,
    who: 'partner',
    why: 'due',
    decide: situation =>
      situation.member === undefined
        ? { refused: 'user_not_found', reasons: [] }
        : // Written even when nothing was due after all, so that the row's due instant is set anew.
          { change: { user: situation.member.user, events: [] }, answer: () => undefined },
  })
}
