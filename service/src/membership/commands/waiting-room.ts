import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceError } from '../../http/service-error.ts'
import { nameOf, type Result } from './batch.ts'
import type { Command } from './command.ts'

/** Where commands wait whose user is held by somebody else, so that they hold up nobody else's. */
export type WaitingRoom = {
  /** Whether a command of the same user waits there: later ones queue behind it. */
  holds(command: Command<unknown>): boolean
  /** Runs a command after those of its user; `unavailable` when it is not done within five seconds, the wait included. */
  enter(command: Command<unknown>): Promise<Result>
  pending(): number
}

/** Connections that waiting may take up at most: the rest stays for those who need not wait. */
const mostAtOnce = 3
/** A little less than the five seconds of contract §4: the batch in which a command was first has waited too. */
const longestMs = 4500

/** Opens the waiting room; `run` runs one command by itself, and waits no longer than it is told for what it needs. */
export function openWaitingRoom(
  run: (command: Command<unknown>, longestMs: number) => Promise<Result[]>,
): WaitingRoom {
  const last = new Map<string, Promise<Result>>()
  const asleep: (() => void)[] = []
  let running = 0
  let pending = 0

  const turn = async (): Promise<void> => {
    if (running < mostAtOnce) running += 1
    else await new Promise<void>(resolve => asleep.push(resolve))
  }
  const leave = () => {
    const next = asleep.shift()
    // The place is handed on, so that nobody who has just come takes it.
    if (next) next()
    else running -= 1
  }

  const runAfter = async (
    command: Command<unknown>,
    before: Promise<Result> | undefined,
  ): Promise<Result> => {
    const endsAt = performance.now() + longestMs
    const late: Result = { ok: false, error: new ServiceError('unavailable') }
    if (before && !(await endsInTime(before))) return late
    await turn()
    try {
      const remainingMs = Math.ceil(endsAt - performance.now())
      if (remainingMs <= 0) return late
      const [result] = await run(command, remainingMs)
      return result ?? { ok: false, error: new Error('a command without a result') }
    } catch (error) {
      return { ok: false, error }
    } finally {
      leave()
    }
  }

  return {
    holds: command => last.has(keyOf(command)),
    async enter(command) {
      const key = keyOf(command)
      pending += 1
      const mine = runAfter(command, last.get(key))
      last.set(key, mine)
      try {
        return await mine
      } finally {
        pending -= 1
        if (last.get(key) === mine) last.delete(key)
      }
    },
    pending: () => pending,
  }
}

function keyOf(command: Command<unknown>): string {
  return nameOf({ partnerId: command.partner.partnerId, userid: command.userid })
}

async function endsInTime(before: Promise<Result>): Promise<boolean> {
  const limit = new AbortController()
  const late = sleep(longestMs, false, { signal: limit.signal }).catch(() => false)
  const isOver = await Promise.race([before.then(() => true), late])
  limit.abort()
  return isOver
}
