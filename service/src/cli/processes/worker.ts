import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { dataDirOf, type Input } from '@benefit-enrolment/command'
import type { Config } from '../../config.ts'
import { describeCause, type Log } from '../../log.ts'
import type { Service } from '../../service.ts'
import { metricsOf, processMetrics } from '../../system/process-metrics.ts'
import { listen, openServingProcess, type Prepared, prepare } from '../open-service.ts'
import { erasureListOf } from '../operator/erasures.ts'
import type { Beginning, Order, Report } from './orders.ts'

/**
 * One process of several that serve: it begins, drains and stops as its parent says, and ends with it. The parent has
 * checked the settings, migrated the database and applied the list of erasures.
 */
export async function runWorker(input: Input, config: Config): Promise<void> {
  const { log } = openServingProcess(config)
  // A terminal and systemd send them to each process; the parent gets them, too, and gives orders in its time.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {})
  process.on('uncaughtException', error => {
    log('crashed', describeCause(error))
    process.exit(1)
  })
  const opened = openOrders(log)
  tell({ report: 'up' })
  const begin = await opened.beginning
  try {
    const dataDir = dataDirOf(input)
    const embedded = begin.embedded && { address: begin.embedded, lowOnSpace: opened.isLow }
    const prepared = await prepare(config, { dataDir, embedded, log, wanted: 'live', quiet: false })
    const erasures = await erasureListOf(config, dataDir)
    const { hostname: host, port } = new URL(begin.address)
    const service = await listen({ host, port: Number(port) }, config, {
      prepared,
      erasures,
      logsRequests: config.logLevel === 'info',
      processes: begin.processes,
      scrubs: begin.embedded !== undefined && begin.scrubs,
      handed: { address: begin.address, connections: opened.connections },
      tellOthers: news => tell({ report: 'news', news }),
    })
    // prom-client measures from its first call on.
    if (config.metrics.port !== undefined) await processMetrics()
    opened.obeyWith({ service, prepared, drainSeconds: config.drainSeconds })
    tell({ report: 'serving', baseUrl: service.baseUrl })
  } catch (error) {
    // The sentence about the error is written by whoever catches it; nothing else would end this process.
    void setTimeout(100, undefined, { ref: false }).then(() => process.exit())
    throw error
  }
}

function tell(report: Report): void {
  // A parent that is gone takes no report, and its end ends this process.
  process.send?.(report, undefined, undefined, () => {})
}

type Obeying = {
  readonly service: Service
  readonly prepared: Prepared
  readonly drainSeconds: number
}

/** Receives the orders of the parent, from the first on. A stop that comes before the process serves ends it at once. */
function openOrders(log: Log): {
  readonly beginning: Promise<Beginning>
  readonly isLow: () => boolean
  /** Says who takes the connections; the parent gives none before this process has said that it serves. */
  readonly connections: (take: (socket: Socket) => void) => void
  readonly obeyWith: (obeying: Obeying) => void
} {
  let isLow = false
  let serving: Obeying | undefined
  let isStopping = false
  let take = (socket: Socket): unknown => socket.destroy()
  const stop = async () => {
    if (isStopping) return
    isStopping = true
    if (serving) {
      const { service, prepared } = serving
      for (const close of [service.close, prepared.deliveryDatabase.close, prepared.database.close])
        await close().catch(error => log('close_failed', describeCause(error)))
    }
    process.exit(0)
  }
  const beginning = new Promise<Beginning>(resolve => {
    process.on('message', (order: Order, socket?: Socket) => {
      if (order.order === 'begin') resolve(order)
      if (order.order === 'begin' || order.order === 'space') isLow = order.isLow
      if (order.order === 'stop') void stop()
      if (order.order === 'drain') serving?.service.drain()
      if (order.order === 'leave' && serving) leave(serving, stop)
      if (order.order === 'news') serving?.service.hear(order.news)
      if (order.order === 'connection') {
        tell({ report: 'taken', id: order.id })
        if (socket) take(socket)
      }
      if (order.order === 'metrics') void answerScrape(order.id, serving?.service)
    })
  })
  return {
    beginning,
    isLow: () => isLow,
    connections: taker => {
      take = taker
    },
    obeyWith(obeying) {
      serving = obeying
    },
  }
}

/** The parent gives it no connection any more; those that it has learn with their next answer to connect anew. */
function leave({ service, drainSeconds }: Obeying, stop: () => Promise<void>): void {
  service.retire()
  void setTimeout(drainSeconds * 1000).then(stop)
}

async function answerScrape(id: number, service: Service | undefined): Promise<void> {
  const text = service ? await metricsOf(service).catch(() => '') : ''
  tell({ report: 'metrics', id, text })
}
