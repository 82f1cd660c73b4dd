import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { Log } from '../../log.ts'
import { OperatorError } from '../../operator-error.ts'
import { mergeMetrics } from '../../system/merge-metrics.ts'
import { processMetrics } from '../../system/process-metrics.ts'
import type { ListenAddress } from '../listen-address.ts'
import { openLogStream } from '../log-stream.ts'
import { type Door, openDoor } from './door.ts'
import type { Beginning } from './orders.ts'
import { type Serving, type ServingProcess, startServingProcess } from './serving-process.ts'
import { ending, openPlaces, type Places } from './slots.ts'

/** The processes of one `serve`, which share its address. */
export type Workers = Serving & {
  readonly address: string
  /** The numbers of all processes, each sample with its process; "0" is the parent. */
  metrics(): Promise<string>
  /** Puts a new process in the place of each, one after the other; the former serves until the new one does. */
  replace(): void
  /** All report that they are not ready, and serve as before. */
  drain(): void
  /** All answer what they accepted, and end. */
  close(): Promise<void>
}

type WorkersContext = Omit<Beginning, 'scrubs' | 'isLow' | 'address'> & {
  readonly listenAt: ListenAddress
  /** Whether the disk of the embedded database is nearly full. */
  readonly lowOnSpace: () => boolean
  /** For how long a process that is replaced serves the connections that it has. */
  readonly drainSeconds: number
  readonly log: Log
}

const LOOK_AT_SPACE_MS = 1000

/**
 * Starts the processes and keeps them running. The parent accepts connections and hands them out in turn; it serves nothing
 * itself. Throws OperatorError when it cannot listen, or one of the first does not come to serve; it has said why.
 */
export async function startWorkers(context: WorkersContext): Promise<Workers> {
  const { log, lowOnSpace, drainSeconds, listenAt, ...shared } = context
  const { write: relay } = openLogStream()
  cluster.setupPrimary({ stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
  let turn = 0
  const give = (socket: Socket) => {
    const serving = [...places.members.values()]
    turn += 1
    const member = serving[turn % serving.length]
    member?.take(socket)
    return member !== undefined
  }
  const door: Door = await openDoor(listenAt, give)
  const { address } = door
  const start = (place: number): ServingProcess => {
    const member = startServingProcess(
      () => ({ ...shared, address, scrubs: place === 1, isLow: lowOnSpace() }),
      {
        relay,
        onNews: news => places.tell({ order: 'news', news }, place),
      },
    )
    void member.ended.then(() => places.tell({ order: 'news', news: { ended: member.pid } }))
    return member
  }
  const places: Places = openPlaces(log, { start, onServing: door.giveWaiting })
  const all = Array.from({ length: context.processes }, (_, index) => index + 1)
  const [first, ...others] = await Promise.all(all.map(places.fill))
  if (!first || others.some(serving => !serving)) {
    door.close()
    await places.close()
    throw new OperatorError('One of the processes did not start: see above.')
  }
  const { members } = places
  let isClosing = false
  const replaceAll = async () => {
    for (const place of all) {
      if (isClosing) return
      const former = members.get(place)
      if (!(await places.fill(place))) {
        log('worker_not_replaced', { worker: place, pid: former?.pid })
        return
      }
      if (former) await ending(former, drainSeconds * 1000)
    }
  }
  let replacing = Promise.resolve()
  let wasLow = lowOnSpace()
  const looking = setInterval(() => {
    if (lowOnSpace() !== wasLow) places.tell({ order: 'space', isLow: !wasLow })
    wasLow = lowOnSpace()
  }, LOOK_AT_SPACE_MS)
  return {
    ...first,
    address,
    async metrics() {
      const texts = await Promise.all([
        processMetrics().then(text => ['0', text] as const),
        ...[...members].map(async ([place, member]) => [String(place), await member.metrics()] as const),
      ])
      return mergeMetrics(new Map(texts))
    },
    replace() {
      replacing = replacing.then(replaceAll)
    },
    drain: () => places.tell({ order: 'drain' }),
    async close() {
      isClosing = true
      clearInterval(looking)
      door.close()
      await places.close()
    },
  }
}
