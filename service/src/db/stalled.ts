import { failureOf, Unavailable } from './failure.ts'

/** For how long a partner whose node did not answer is refused before one of its statements is tried again. */
const REFUSED_MS = 5000
/** How many such statements of all partners are tried at once: each may hold a connection for six seconds. */
const MOST_TRIED = 2

/** The partners whose node of a cluster keeps its connections and answers nothing. */
export type StalledPartners = {
  /**
   * Runs a statement of a partner. Rejects at once with `Unavailable` while the partner's node does not answer. On plain
   * PostgreSQL it only runs the statement.
   */
  run<T>(partnerId: string, statement: () => Promise<T>): Promise<T>
  /** Throws `Unavailable` while `run` would reject: for work that is no single statement, such as a transaction. */
  refuse(partnerId: string): void
}

/**
 * A node that is stopped refuses connections, and its partners are answered 503 at once. One that hangs, or is cut off,
 * holds each connection until the statement times out; without this rule the requests of its partners would hold all
 * connections of the pool, again and again, and those of the other partners would wait for them.
 */
export function openStalledPartners(
  layout: { readonly isSpread: boolean },
  now: () => number = () => performance.now(),
): StalledPartners {
  const refusedUntil = new Map<string, number>()
  let tried = 0
  const refuse = (partnerId: string) => {
    const until = refusedUntil.get(partnerId)
    if (until !== undefined && (now() < until || tried >= MOST_TRIED))
      throw new Unavailable("the partner's node does not answer")
  }
  return {
    refuse,
    async run(partnerId, statement) {
      if (!layout.isSpread) return statement()
      refuse(partnerId)
      const isTrial = refusedUntil.has(partnerId)
      if (isTrial) {
        tried += 1
        refusedUntil.set(partnerId, Number.POSITIVE_INFINITY)
      }
      try {
        const result = await statement()
        refusedUntil.delete(partnerId)
        return result
      } catch (error) {
        if (failureOf(error).timedOut) refusedUntil.set(partnerId, now() + REFUSED_MS)
        else if (isTrial) refusedUntil.delete(partnerId)
        throw error
      } finally {
        if (isTrial) tried -= 1
      }
    },
  }
}
