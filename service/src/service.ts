/**
 * The service: which parts it has, and the order in which they start and stop. Each part is put together in a file of
 * `assembly/`.
 */

import { openDelivery } from './assembly/delivery.ts'
import { openListener } from './assembly/listener.ts'
import type { News, ServiceOptions } from './assembly/options.ts'
import { openSchedules } from './assembly/schedules.ts'
import { openShared } from './assembly/shared.ts'
import { openUsers } from './assembly/users.ts'
import { isUnavailable } from './db/failure.ts'
import { describeCause } from './log.ts'
import { writeServiceUrl } from './operators/store.ts'
import { listClocks } from './partners/store.ts'
import { isQuiet, watchQuiet } from './quiet.ts'
import { dueMetrics } from './schedule/due-metrics.ts'
import { repeatedly } from './schedule/repeatedly.ts'
import type { Dispatcher } from './webhooks/delivery/dispatcher.ts'

/** A running service. */
export type Service = {
  /** Where it listens, `http://HOST:PORT`. */
  readonly address: string
  readonly baseUrl: string
  /** The numbers of this process, as Prometheus reads them. */
  metrics(): Promise<string>
  /** Delivers the webhooks. */
  readonly dispatcher: Dispatcher
  /** Applies everything that is due now; returns how many users were found due. */
  runDue(): Promise<number>
  /**
   * Is not ready from now on but serves as before, so that a load balancer has time to send requests elsewhere before
   * `close`; each answer asks its caller to connect anew. Leaves further webhooks to other processes.
   */
  drain(): void
  /** Asks each caller to connect anew, because another process has taken its place. */
  retire(): void
  /** Learns what happened in a process beside this one. */
  hear(news: News): void
  /** Answers what was accepted, ends its work and releases everything; the database stays open. */
  close(): Promise<void>
}

/** How soon the address is written again where it could not be. */
const TELL_AGAIN_MS = 10_000

/** Assembles and starts a service on a database that is migrated. Rejects when the address is taken. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { database, log } = options
  let lastRequestAt = Number.NEGATIVE_INFINITY

  const shared = await openShared(options)
  const { clock } = shared
  const delivery = openDelivery(shared)
  const quiet = watchQuiet({
    database,
    isQuiet: await isQuiet(database),
    onResume: () => {
      log('resumed')
      act()
    },
    onError: error => log('quiet_failed', describeCause(error)),
  })
  const mayNotWrite = () => quiet.isQuiet() || (options.lowOnSpace?.() ?? false)
  const users = openUsers(shared, delivery, mayNotWrite)
  const schedules = openSchedules(shared, users, () => performance.now() - lastRequestAt < SERVING_MS)
  const listener = await openListener(shared, {
    users,
    delivery,
    schedule: schedules.schedule,
    quiet,
    onRequest: () => {
      lastRequestAt = performance.now()
    },
  })
  const rendered = [
    delivery.metrics,
    ...listener.metrics,
    ...schedules.metrics,
    dueMetrics({ database, clock, partners: () => listClocks(database) }),
  ]
  const metrics = async () => (await Promise.all(rendered.map(render => render()))).join('')

  /** The actions that a quiet copy leaves out: deliveries and due changes. */
  const act = () => {
    delivery.start()
    schedules.start()
  }
  const drain = () => {
    listener.drain()
    delivery.drain()
  }
  /** The console makes links to the service, and is another process. The write needs each node of a cluster, of which one may be away. */
  const tellUrl = () =>
    writeServiceUrl(database, listener.baseUrl()).then(
      () => true,
      error => {
        if (isUnavailable(error)) return false
        throw error
      },
    )
  const telling = repeatedly(TELL_AGAIN_MS, async () => {
    if (await tellUrl().catch(() => false)) void telling.close()
    return TELL_AGAIN_MS
  })
  /** Requests end first, because they give work to all other parts; the parts that are shared close last. */
  const stop = async () => {
    drain()
    await listener.close()
    await quiet.close()
    await telling.close()
    await schedules.close()
    await delivery.close()
    await shared.close()
  }

  let address: string
  try {
    address = await listener.listen()
    if (!(await tellUrl())) telling.start()
  } catch (error) {
    await stop()
    throw error
  }
  if (quiet.isQuiet()) log('quiet')
  else act()

  return {
    address,
    baseUrl: listener.baseUrl(),
    dispatcher: delivery.dispatcher,
    metrics,
    runDue: schedules.schedule.runAll,
    drain,
    retire() {
      listener.retire()
      delivery.drain()
    },
    hear(news) {
      if ('events' in news) delivery.dispatcher.nudge(new Set(news.events))
      else listener.hear(news)
    },
    close: stop,
  }
}

/** For how long after a request the service counts as busy with requests. */
const SERVING_MS = 100
