// graphile-worker with the settings of its performance page: a local queue, and completions written in batches.
import pg from 'pg'
import { importPeer, openHandler } from '../peer.mjs'

export async function open({ address, peers, ...config }) {
  const { Logger, makeWorkerUtils, run } = await importPeer(peers, 'graphile-worker')
  const handler = await openHandler({ address, ...config })
  const pgPool = new pg.Pool({ ...address, max: 20 })
  pgPool.on('error', () => {})
  pgPool.on('connect', client => client.on('error', () => {}))
  // Otherwise each failed job would be logged.
  const logger = new Logger(() => () => {})
  const utils = await makeWorkerUtils({ pgPool, logger })
  await utils.migrate()
  let runner
  return {
    async queue(events) {
      if (events.length === 1) await utils.addJob('hook', events[0], { maxAttempts: 12 })
      else await utils.addJobs(events.map(payload => ({ identifier: 'hook', payload, maxAttempts: 12 })))
    },
    async start() {
      const worker = {
        concurrentJobs: config.concurrency,
        maxPoolSize: 20,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      }
      const taskList = { hook: payload => handler.deliver(payload) }
      runner = await run({ pgPool, logger, taskList, noHandleSignals: true, preset: { worker } })
    },
    async rest() {
      await runner?.stop()
      runner = undefined
    },
    async close() {
      await runner?.stop()
      await utils.release()
      await pgPool.end()
      await handler.close()
    },
  }
}
