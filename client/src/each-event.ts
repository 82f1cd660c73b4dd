import type { Client, LoggedEvent } from './generated.ts'
import type { CallOptions } from './options.ts'
import { pause } from './time-limit.ts'

/** Events one after the other, oldest first; each walk can be iterated only once. */
export type EventWalk = AsyncIterable<LoggedEvent> & {
  /** Where to continue another time: after the last page that was read to its end. */
  readonly cursor: string | undefined
}

/**
 * Starts a walk. Without `follow` it ends at the end of the log; otherwise it waits there for more events until its
 * signal ends it.
 */
export type EachEvent = (
  where?: { after?: string; userid?: string; eventname?: LoggedEvent['eventname'] },
  options?: Omit<CallOptions, 'idempotencyKey'> & { follow?: boolean; pollMs?: number },
) => EventWalk

const DEFAULT_POLL_MS = 2_000

/** Makes the walk of a client through its event log. */
export function eachEventOf(client: Pick<Client, 'listEvents'>): EachEvent {
  return (where = {}, { follow = false, pollMs = DEFAULT_POLL_MS, ...options } = {}) => {
    const { after, ...filter } = where
    let cursor = after
    async function* walk(): AsyncGenerator<LoggedEvent> {
      for (;;) {
        const request = { ...filter, ...(cursor === undefined ? {} : { after: cursor }) }
        const { events, next } = await client.listEvents(
          request as Parameters<Client['listEvents']>[0],
          options,
        )
        yield* events
        const isEnd = events.length === 0 && next === cursor
        cursor = next
        if (isEnd && !follow) return
        if (isEnd) await pause(pollMs, options.signal)
      }
    }
    const events = walk()
    return {
      get cursor() {
        return cursor
      },
      [Symbol.asyncIterator]: () => events,
    }
  }
}
