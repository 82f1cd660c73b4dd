/** Sends refusals at a bounded pace. */
export type RefusalPace = {
  /** Sends at once while there are few refusals; otherwise later, in the order of the calls. */
  pass(send: () => void): void
  /** Begins the next period. */
  tick(): void
  /** Refusals that wait for their turn. */
  held(): number
  /** Sends everything that still waits. */
  end(): void
}

/** How many refusals are sent in a tick, and how many ticks a refusal waits at most. */
export type PaceLimits = { readonly perTick: number; readonly longestTicks: number }

/**
 * Keeps refusals from becoming the load. A caller that ignores Retry-After returns as fast as it is refused. The
 * process would then do little but refuse, and new connections of all callers would wait for seconds, because Node
 * accepts one in each turn of the event loop. So refusals beyond a pace wait, and with them the connections on which
 * the requests came.
 */
export function paceRefusals({ perTick, longestTicks }: PaceLimits): RefusalPace {
  let waiting: { readonly send: () => void; readonly since: number }[] = []
  let now = 0
  let sent = 0
  const release = (count: number) => {
    const due = waiting.slice(0, count)
    waiting = waiting.slice(count)
    sent = due.length
    for (const { send } of due) send()
  }
  return {
    pass(send) {
      if (sent < perTick) {
        sent += 1
        send()
      } else waiting.push({ send, since: now })
    },
    tick() {
      now += 1
      const late = waiting.findIndex(({ since }) => now - since < longestTicks)
      release(Math.max(perTick, late < 0 ? waiting.length : late))
    },
    held: () => waiting.length,
    end: () => release(waiting.length),
  }
}
