import cluster from 'node:cluster'
import type { News } from '../../assembly/options.ts'
import type { Beginning, Order, Report } from './orders.ts'

/** Where a process serves. */
export type Serving = { readonly address: string; readonly baseUrl: string }

/** A process that serves, as its parent sees it. */
export type Member = {
  readonly pid: number
  /** Where it serves; `undefined` when it has ended without. */
  readonly serving: Promise<Serving | undefined>
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>
  tell(order: Order): void
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
export function startMember(beginning: () => Beginning, { relay, onNews }: Received): Member {
  const worker = cluster.fork()
  const child = worker.process
  const scrapes = new Map<number, (text: string) => void>()
  let lastScrape = 0
  // A process that has just ended takes no order.
  const tell = (order: Order) => {
    if (worker.isConnected()) worker.send(order, () => {})
  }
  const ended = new Promise<Awaited<Member['ended']>>(resolve => {
    worker.once('exit', (code, signal) => resolve({ code, signal }))
    // The system had no room for another process.
    worker.on('error', () => child.pid === undefined && resolve({ code: null, signal: null }))
  })
  const serving = new Promise<Serving | undefined>(resolve => {
    worker.on('message', (report: Report) => {
      if (report.report === 'up') tell({ order: 'begin', ...beginning() })
      else if (report.report === 'serving') resolve({ address: report.address, baseUrl: report.baseUrl })
      else if (report.report === 'news') onNews(report.news)
      else scrapes.get(report.id)?.(report.text)
    })
    void ended.then(() => {
      resolve(undefined)
      for (const answer of scrapes.values()) answer('')
    })
  })
  relayLines(child.stderr, relay)
  return {
    pid: child.pid ?? 0,
    serving,
    ended,
    tell,
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
