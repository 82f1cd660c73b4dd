import { setTimeout } from 'node:timers/promises'
import type { Log } from '../../log.ts'
import type { Order } from './orders.ts'
import type { Serving, ServingProcess } from './serving-process.ts'

/** Places for processes, each of which has one that serves. */
export type Places = {
  /**
   * Starts a process for a place; once it serves, the one that had the place leaves. Resolves with `undefined` when it ends
   * before it serves.
   */
  fill(place: number): Promise<Serving | undefined>
  /** The processes that serve and will go on, by place. */
  readonly members: ReadonlyMap<number, ServingProcess>
  /** Tells all processes, also those that start or leave, but for one in this place. */
  tell(order: Order, but?: number): void
  /** Ends all processes, and starts none any more. */
  close(): Promise<void>
}

/** Longer than a process takes to answer what it accepted. */
const LONGEST_END_MS = 20_000
const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 5000

/**
 * Opens places. A process that ends by itself gets a successor: at once if it lived for a while, otherwise after growing
 * pauses.
 */
export function openPlaces(
  log: Log,
  { start, onServing }: { start: (place: number) => ServingProcess; onServing: () => void },
): Places {
  const members = new Map<number, ServingProcess>()
  const coming = new Map<number, Promise<Serving | undefined>>()
  const running = new Map<ServingProcess, number>()
  let isClosing = false

  const begin = async (place: number) => {
    const member = start(place)
    const startedAt = performance.now()
    running.set(member, place)
    void member.ended.then(() => running.delete(member))
    const serving = await member.serving
    if (!serving) return undefined
    members.get(place)?.tell({ order: 'leave' })
    members.set(place, member)
    log('worker_started', { worker: place, pid: member.pid })
    onServing()
    void member.ended.then(({ code, signal }) => {
      // One that was replaced, or told to stop, has ended as it should.
      if (isClosing || members.get(place) !== member) return
      members.delete(place)
      log('worker_died', { worker: place, pid: member.pid, code, signal })
      void fillAgain(place, performance.now() - startedAt > LONGEST_PAUSE_MS ? 0 : SHORTEST_PAUSE_MS)
    })
    return serving
  }
  const fill = (place: number) => {
    const begun = coming.get(place) ?? begin(place).finally(() => coming.delete(place))
    coming.set(place, begun)
    return begun
  }
  const fillAgain = async (place: number, firstPauseMs: number) => {
    for (
      let pauseMs = firstPauseMs;
      ;
      pauseMs = Math.min(pauseMs * 2 + SHORTEST_PAUSE_MS, LONGEST_PAUSE_MS)
    ) {
      await setTimeout(pauseMs, undefined, { ref: false })
      if (isClosing || (await fill(place))) return
    }
  }
  const tell = (order: Order, but?: number) => {
    for (const [member, place] of running) if (place !== but) member.tell(order)
  }
  return {
    fill,
    members,
    tell,
    async close() {
      isClosing = true
      tell({ order: 'stop' })
      await Promise.all([...running.keys()].map(member => ending(member, 0)))
    },
  }
}

/** Waits until a process has ended that is to end, at the latest, after `drainMs`; it is killed when that takes too long. */
export async function ending(member: ServingProcess, drainMs: number): Promise<void> {
  const late = globalThis.setTimeout(member.kill, drainMs + LONGEST_END_MS)
  await member.ended
  clearTimeout(late)
}
