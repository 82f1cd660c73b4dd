import type { Socket } from 'node:net'
import type { Turns } from './turns.ts'

/** The connections from which the process reads no further request for a while. */
export type Resting = {
  /** Notes that a request of this partner has arrived; "" for an unknown one, which changes nothing. */
  note(partnerId: string): void
  /** Lets a connection rest on which a request of this partner has been answered, if the partner is alone and many requests wait. */
  answered(connection: Connection, partnerId: string): void
  /** How many connections rest. */
  count(): number
  /** Reads from all connections again, and lets none rest from now on. */
  end(): void
}

type Connection = Pick<Socket, 'pause' | 'resume'>

/**
 * When only one partner floods, leaves its next requests with the operating system until their turn is near. A request
 * that waits here is copied by garbage collections: with thousands of them a process served a fifth less.
 *
 * While another partner asks, no connection rests. Then turns are fairer, for which requests must be read; and a proxy may
 * send that partner's request on any connection. For the same reason none rests for long.
 */
export function openResting(
  turns: Pick<Turns, 'isOpen' | 'waiting'>,
  now: () => number = () => performance.now(),
): Resting {
  // A map lists its keys in the order in which they were added.
  const since = new Map<Connection, number>()
  let last = { partnerId: '', since: now() }
  let timer: NodeJS.Timeout | undefined
  let isEnded = false
  const wake = (isDue: (restingSince: number, woken: number) => boolean) => {
    let woken = 0
    for (const [connection, restingSince] of since) {
      if (!isDue(restingSince, woken)) break
      since.delete(connection)
      connection.resume()
      woken += 1
    }
    if (since.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const tick = () => {
    const room = turns.isOpen() ? MOST_AT_ONCE : ENOUGH_WAITING - turns.waiting()
    const late = now() - LONGEST_REST_MS
    wake((restingSince, woken) => woken < room || restingSince <= late)
  }
  return {
    note(partnerId) {
      if (partnerId === last.partnerId || partnerId === '') return
      last = { partnerId, since: now() }
      if (since.size > 0) wake(() => true)
    },
    answered(connection, partnerId) {
      if (isEnded || (turns.waiting() < ENOUGH_WAITING && since.size === 0)) return
      const at = now()
      if (partnerId !== last.partnerId || at - last.since < ALONE_AFTER_MS || since.has(connection)) return
      connection.pause()
      since.set(connection, at)
      timer ??= setInterval(tick, TICK_MS).unref()
    },
    count: () => since.size,
    end() {
      isEnded = true
      wake(() => true)
    },
  }
}

/** With a tick each 10 ms the process ran out of work before the next: under five times its peak it served 0.75 of it, with 5 ms 0.83. */
const TICK_MS = 5
/** This many waiting requests keep the process at work until the next tick. */
const ENOUGH_WAITING = 100
/** More than a process can answer in a tick, because most of the connections that it wakes may have no further request. */
const MOST_AT_ONCE = 400
const LONGEST_REST_MS = 2000
/** A partner is alone when no other has asked for this long. */
const ALONE_AFTER_MS = 10_000
