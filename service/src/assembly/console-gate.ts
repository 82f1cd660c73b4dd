import { createServer, type Socket } from 'node:net'
import { ownUrlOf } from '../console/listener/guard.ts'
import { describeCause, type Log } from '../log.ts'
import { OperatorError } from '../operator-error.ts'
import type { Service } from '../service.ts'
import { consoleMetrics } from '../system/console-metrics.ts'
import { type ConsoleChild, startConsoleChild } from './console-child.ts'
import type { ConsoleSettings } from './console-messages.ts'

/** The listener of a console that runs in a process of its own. */
export type ConsoleGate = {
  /** Where operators reach the console. */
  readonly url: string
  /** Whether the console's process runs, and how much memory and processor time it takes, as Prometheus reads it. */
  metrics(): Promise<string>
  /** Accepts no more connections, and ends the console's process once it has answered what it accepted. */
  close(): Promise<void>
}

/** How long after a process ended by itself another may start: doubled with each end, up to the longest. */
const SHORTEST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 30_000
/** After a process that ran for this long another may start at once. */
const LONG_RUN_MS = 60_000
/** How often the console's process is told whether writes are refused. */
const WATCH_WRITES_MS = 250

/**
 * Listens for operators' browsers, and hands each connection to the console's process, unread. That process is started
 * by the first connection, because a console that nobody opens should cost no memory; the listener stays here, so that the
 * port is kept, and a process that ends is followed by another with the next connection. Rejects when the address is
 * taken.
 */
export async function openConsoleGate(context: {
  readonly service: Service
  readonly settings: Omit<ConsoleSettings, 'publicUrl' | 'mayNotWrite'>
  readonly log: Log
}): Promise<ConsoleGate> {
  const { service, log } = context
  const { at } = context.settings
  let { port } = at
  let child: ConsoleChild | undefined
  let isClosing = false
  let startedAt = 0
  let pauseMs = 0
  let mayStartAt = 0
  let ends = 0
  let refused = false

  const start = () => {
    startedAt = performance.now()
    refused = service.mayNotWrite()
    const settings = {
      ...context.settings,
      at: { ...at, port },
      publicUrl: service.baseUrl,
      mayNotWrite: refused,
    }
    return startConsoleChild({ settings, service, log, refuse, onEnd })
  }
  const onEnd = (how: { code: number | null; signal: string | null }) => {
    child = undefined
    if (isClosing) return
    ends += 1
    const now = performance.now()
    pauseMs =
      now - startedAt >= LONG_RUN_MS
        ? 0
        : Math.min(Math.max(pauseMs * 2, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS)
    mayStartAt = now + pauseMs
    log('console_ended', { code: how.code ?? undefined, signal: how.signal ?? undefined, pausems: pauseMs })
  }
  const accept = (socket: Socket) => {
    socket.on('error', ignore)
    if (isClosing || (!child && performance.now() < mayStartAt)) {
      refuse(socket)
      return
    }
    try {
      child ??= start()
      child.handOver(socket)
    } catch (error) {
      // The machine allows no more processes or open files: partners are served all the same.
      log('console_failed', describeCause(error))
      onEnd({ code: null, signal: null })
      refuse(socket)
    }
  }

  const server = createServer({ pauseOnConnect: true }, accept)
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => reject(cannotListen(at, error)))
    server.listen({ host: at.host, port, backlog: 256 }, resolve)
  })
  server.on('error', ignore)
  port = (server.address() as { port: number }).port
  const watchingWrites = setInterval(() => {
    const now = service.mayNotWrite()
    if (now !== refused) child?.noteWrites(now)
    refused = now
  }, WATCH_WRITES_MS)
  watchingWrites.unref()
  const metrics = consoleMetrics(async () => ({
    isUp: child !== undefined,
    ends,
    report: await child?.report(),
  }))

  return {
    url: at.url ?? ownUrlOf(at.host, port),
    metrics,
    async close() {
      isClosing = true
      clearInterval(watchingWrites)
      server.close()
      await child?.stop()
    },
  }
}

const sentence = 'The console is being started again. Load this page again in a moment.\n'
const answer = `HTTP/1.1 503 Service Unavailable\r\nRetry-After: 2\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${sentence.length}\r\n\r\n${sentence}`
const REFUSE_MS = 2000

/** Answers a browser while no process can: 503, whatever it asks for. */
function refuse(socket: Socket): void {
  // What has arrived is read, because closing a connection with unread data resets it, and the browser would lose the
  // answer.
  socket.resume().end(answer)
  const timer = setTimeout(() => socket.destroy(), REFUSE_MS)
  timer.unref()
  socket.once('close', () => clearTimeout(timer))
}

/** The sentence for an operator whose console cannot listen where it should. */
function cannotListen({ host, port }: { host: string; port: number }, error: unknown): OperatorError {
  const { code = 'unknown error' } = error as { code?: string }
  return new OperatorError(
    `The console cannot listen on ${host}:${port} (${code}): give another ENROLMENT_CONSOLE_PORT, or none.`,
  )
}

function ignore() {}
