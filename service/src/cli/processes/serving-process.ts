import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { News } from '../../assembly/options.ts'
import type { Beginning, Order, Report } from './orders.ts'

/** What a process says once it serves. */
export type Serving = { readonly baseUrl: string }

/** A process that serves, as its parent sees it. */
export type ServingProcess = {
  readonly pid: number
  /** Where it serves; `undefined` when it has ended without. */
  readonly serving: Promise<Serving | undefined>
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  tell(order: Order): void
  /** Gives it a connection, which is closed if it ends before it has taken it. */
  take(socket: Socket): void
  /** Its numbers; "" when it does not answer in time. */
  metrics(): Promise<string>
  kill(): void
}

/** For how long a scrape waits for one process. */
const PATIENCE_FOR_METRICS_MS = 5000

/** What the parent does with what a process sends. */
type Received = {
  /** Gets whole lines of its log. */
  readonly relay: (lines: string) => void
  /** Gets what the processes beside it must know. */
  readonly onNews: (news: News) => void
}

/** Starts a process that serves. */
export function startServingProcess(beginning: () => Beginning, { relay, onNews }: Received): ServingProcess {
  const worker = cluster.fork()
  const child = worker.process
  const scrapes = new Map<number, (text: string) => void>()
  // This process has them open, too, until the other has taken them: what was on its way to one that dies would else never end.
  const given = new Map<number, Socket>()
  let lastScrape = 0
  let lastGiven = 0
  const close = (id: number) => {
    given.get(id)?.destroy()
    given.delete(id)
  }
  // A process that has just ended takes no order.
  const tell = (order: Order) => {
    if (worker.isConnected()) worker.send(order, () => {})
  }
  const ended = new Promise<Awaited<ServingProcess['ended']>>(resolve => {
    worker.once('exit', (code, signal) => resolve({ code, signal }))
    // The system had no room for another process.
    worker.on('error', () => child.pid === undefined && resolve({ code: null, signal: null }))
  })
  const serving = new Promise<Serving | undefined>(resolve => {
    worker.on('message', (report: Report) => {
      if (report.report === 'up') tell({ order: 'begin', ...beginning() })
      else if (report.report === 'serving') resolve({ baseUrl: report.baseUrl })
      else if (report.report === 'taken') close(report.id)
      else if (report.report === 'news') onNews(report.news)
      else scrapes.get(report.id)?.(report.text)
    })
    void ended.then(() => {
      resolve(undefined)
      for (const answer of scrapes.values()) answer('')
      for (const id of given.keys()) close(id)
    })
  })
  relayLines(child.stderr, relay)
  return {
    pid: child.pid ?? 0,
    serving,
    ended,
    tell,
    take(socket) {
      lastGiven += 1
      given.set(lastGiven, socket)
      worker.send(
        { order: 'connection', id: lastGiven } satisfies Order,
        socket,
        { keepOpen: true },
        () => {},
      )
    },
    async metrics() {
      lastScrape += 1
      const id = lastScrape
      const text = await new Promise<string>(resolve => {
        scrapes.set(id, resolve)
        setTimeout(resolve, PATIENCE_FOR_METRICS_MS, '').unref()
        tell({ order: 'metrics', id })
      })
      scrapes.delete(id)
      return text
    },
    kill: () => child.kill('SIGKILL'),
  }
}

/** Lines of several processes on one stream would be cut into each other where it is full, so whole lines are passed on. */
function relayLines(stream: NodeJS.ReadableStream | null, relay: (lines: string) => void): void {
  let rest = ''
  stream?.setEncoding('utf8')
  stream?.on('data', (text: string) => {
    const end = text.lastIndexOf('\n') + 1
    if (end > 0) relay(rest + text.slice(0, end))
    rest = end > 0 ? text.slice(end) : rest + text
  })
  stream?.on('end', () => {
    if (rest !== '') relay(`${rest}\n`)
  })
}
