import { setTimeout as sleep } from 'node:timers/promises'
import { Unavailable } from '../../db/failure.ts'
import type { Command } from '../command.ts'
import { nameOfUser } from '../reading/load.ts'
import type { Result } from './batch.ts'

/** Where commands wait whose user another database session has locked, so that they delay no other commands. */
type WaitingRoom = {
  /** Whether a command of the same user waits there; later commands queue behind it. */
  holds(command: Command<unknown>): boolean
  /**
   * Runs a command after the earlier ones of its user; fails with `Unavailable` when it is not done within five seconds, including
   * the wait.
   */
  enter(command: Command<unknown>): Promise<Result>
  pending(): number
}

/** The most connections that waiting commands may use; the others stay free for commands that need not wait. */
const MOST_AT_ONCE = 3
/** A little less than the five seconds of contract §4, because the command has already waited in its batch. */
const LONGEST_MS = 4500

/** Opens the waiting room; `run` runs one command alone, and waits for locks no longer than it is told. */
export function openWaitingRoom(
  run: (command: Command<unknown>, longestMs: number) => Promise<Result | undefined>,
): WaitingRoom {
  const last = new Map<string, Promise<Result>>()
  const asleep: (() => void)[] = []
  let running = 0
  let pending = 0

  const turn = async (): Promise<void> => {
    if (running < MOST_AT_ONCE) running += 1
    else await new Promise<void>(resolve => asleep.push(resolve))
  }
  const leave = () => {
    const next = asleep.shift()
    // The place goes directly to the next command, so that a new arrival cannot take it.
    if (next) next()
    else running -= 1
  }

  const runAfter = async (
    command: Command<unknown>,
    before: Promise<Result> | undefined,
  ): Promise<Result> => {
    const endsAt = performance.now() + LONGEST_MS
    const late: Result = { ok: false, error: new Unavailable('waited too long') }
    if (before && !(await endsInTime(before))) return late
    await turn()
    try {
      const remainingMs = Math.ceil(endsAt - performance.now())
      if (remainingMs <= 0) return late
      const result = await run(command, remainingMs)
      return result ?? { ok: false, error: new Error('a command without a result') }
    } catch (error) {
      return { ok: false, error }
    } finally {
      leave()
    }
  }

  return {
    // Mostly nobody waits there, and then no name is made.
    holds: command => last.size > 0 && last.has(nameOfUser(command)),
    async enter(command) {
      const key = nameOfUser(command)
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

async function endsInTime(before: Promise<Result>): Promise<boolean> {
  const limit = new AbortController()
  const late = sleep(LONGEST_MS, false, { signal: limit.signal }).catch(() => false)
  const isOver = await Promise.race([before.then(() => true), late])
  limit.abort()
  return isOver
}
